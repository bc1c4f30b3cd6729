package truth;

/**
 * Two threads, each in even() and odd() in turn, 30 ms each, that say when: "PHASE thread method from to", by
 * System.nanoTime(), which is CLOCK_MONOTONIC.
 */
public final class Moments {
    private static final long LENGTH = 30_000_000;

    public static void main(String[] args) throws Exception {
        Program.thread("moments-1", Moments::alternate);
        Program.thread("moments-2", Moments::alternate);
        Program.serve();
    }

    private static void alternate() {
        String thread = Thread.currentThread().getName();
        for (long i = 0; !Program.stopping; i++) {
            long from = System.nanoTime();
            if ((i & 1) == 0) {
                even(from + LENGTH);
            } else {
                odd(from + LENGTH);
            }
            System.out.println("PHASE " + thread + ((i & 1) == 0 ? " even " : " odd ") + from + " " + System.nanoTime());
        }
    }

    private static void even(long end) {
        while (System.nanoTime() < end) {
            Program.sink = Program.work(1_000);
        }
    }

    private static void odd(long end) {
        while (System.nanoTime() < end) {
            Program.sink = Program.work(1_000);
        }
    }
}
