package truth;

/**
 * Constructors whose super(…) or this(…) throws, args[0] times from "begin" on; no method with probes catches that, and the
 * catcher goes on: it sleeps for args[1] ms, then calls what no constructor calls, or step() if that is not 0. Counters: done.
 */
public final class Constructors {
    private static int made;

    private Constructors() {
    }

    /** Has no probes in the test. */
    static class Base {
        Base(int n) {
            if (n % 3 != 0) {
                throw new IllegalStateException();
            }
        }
    }

    static class Made extends Base {
        Made(int n) {
            super(n);
            made += Work.step(n);
        }

        Made(long n) {
            this((int) n);
        }
    }

    static final class More extends Made {
        More(int n) {
            super(Work.step(n));
        }
    }

    static final class Work {
        static int step(int n) {
            return n + inner(0);
        }

        static int after(int n) {
            return n + inner(1);
        }

        static int inner(int n) {
            return n;
        }
    }

    private static void make(int i, int kind) {
        try {
            Object o = kind == 0 ? new Made(i) : kind == 1 ? new Made((long) i) : new More(i);
            made += o.hashCode() & 1;
        } catch (IllegalStateException e) {
            made--;
        }
    }

    private static void run(int times, int ms) {
        while (!Program.begun) {
            Program.sleep(1);
        }
        for (int i = 0; i < times; i++) {
            make(i, i % 4 % 3);
            if (ms > 0) {
                Program.sleep(ms);
                made += Work.step(i);
            } else {
                made += Work.after(i);
            }
        }
        Program.count("done", 1);
    }

    public static void main(String[] args) throws Exception {
        int times = Integer.parseInt(args[0]), ms = Integer.parseInt(args[1]);
        Program.thread("makes", () -> run(times, ms));
        Program.serve();
    }
}
