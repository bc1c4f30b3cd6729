package truth;

/** Four threads that work about 1 ms out of 10. */
public final class MostlyIdle {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 4; i++) {
            Program.thread("idler-" + i, () -> {
                while (!Program.stopping) {
                    burst();
                    Program.sleep(9);
                }
            });
        }
        Program.serve();
    }

    private static void burst() {
        long end = Program.cpu() + 1_000_000;
        while (Program.cpu() < end) {
            Program.sink = Program.work(5_000);
        }
    }
}
