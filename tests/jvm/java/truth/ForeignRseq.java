package truth;

/**
 * Threads that use restartable sequences in a library of their own, and wait now and then. Argument: the library.
 * Counters: `counted` by the threads, `found` in the library's counters, `interrupted` sections; `none` = 1 where
 * the C library has registered no rseq.
 */
public final class ForeignRseq {
    private static final int THREADS = 4, COUNTS = 5_000;

    static native long count(int times);

    static native long sum();

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        if (count(1) < 0) {
            Program.set("none", 1);
            Program.serve();
            return;
        }
        Program.count("counted", 1);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = Program.thread("rseq-" + i, ForeignRseq::run);
        }
        Program.thread("rseq-sum", () -> sumUp(threads));
        Program.serve();
    }

    private static void run() {
        while (!Program.ending) {
            Program.count("interrupted", count(COUNTS));
            Program.count("counted", COUNTS);
            Program.sleep(1);
        }
    }

    private static void sumUp(Thread[] threads) {
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                return;
            }
        }
        Program.set("found", sum());
    }
}
