package truth;

/**
 * Threads that do the same small piece of work for ever: the ruler for what profiling costs from
 * outside. Arguments: threads, depth of the stack they do it on, "warm" if the stack's methods
 * shall be compiled (else they are interpreted: each is called once). Counters: `units` of work done,
 * `cpu` CPU ns of all threads at the end of their last unit.
 */
public final class Spin {
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), depth = Integer.parseInt(args[1]);
        for (int i = 0; args.length > 2 && i < 30_000; i++) {
            warming = true;
            down(i % depth + 1);
        }
        warming = false;
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(null, () -> down(depth), "spin-" + i, 64 << 20);
            thread.setDaemon(true);
            thread.start();
        }
        Program.sleep(1000); // compiled by then
        Program.serve();
    }

    private static volatile boolean warming;

    private static long down(int left) {
        return left > 1 ? down(left - 1) + 1 : units();
    }

    private static long units() {
        long before = Program.cpu();
        while (!warming && !Program.stopping) {
            Program.sink = Program.work(1_000_000);
            long now = Program.cpu();
            Program.count("units", 1);
            Program.count("cpu", now - before);
            before = now;
        }
        return before;
    }
}
