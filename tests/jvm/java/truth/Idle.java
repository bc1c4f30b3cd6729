package truth;

/** A JVM with a number of threads (argument) that do next to nothing, to weigh memory. */
public final class Idle {
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(null, () -> {
                while (!Program.stopping) {
                    Program.sink = Program.work(1000);
                    Program.sleep(200);
                }
            }, "idle-" + i, 256 << 10);
            thread.setDaemon(true);
            thread.start();
        }
        Program.sleep(500);
        Program.serve();
    }
}
