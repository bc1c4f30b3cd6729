package truth;

import java.lang.reflect.Method;

/**
 * Exceptions, counted by the program itself: counters `often`, `seldom`, `dying` (nothing catches those), `virtual`.
 *
 * Arguments: how many throws the thread `thrower` makes, how many threads die of one, how many throws a virtual thread
 * makes (JDK 21+); all once "begin" was said, then `done` is 1. "cost" instead: throws go on, and `ns` is how long one
 * takes, of an exception that is made once; "cost trace": of a new one with its stack trace, 30 frames deep, that is
 * caught 5 frames further out.
 */
public final class Throws {
    static final class Often extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    static final class Seldom extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    static final class Dying extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    static final class Virtual extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** What costs little to make, so that the throw itself is what a loop measures. */
    static final class Bare extends RuntimeException {
        private static final long serialVersionUID = 1;

        Bare() {
            super(null, null, false, false);
        }
    }

    private static final Bare BARE = new Bare();

    public static void main(String[] args) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> Program.sink++);
        if (args[0].equals("cost")) {
            boolean trace = args.length > 1;
            Program.thread("thrower", () -> cost(trace));
            Program.serve();
            return;
        }
        int throwing = Integer.parseInt(args[0]), dying = Integer.parseInt(args[1]);
        int virtual = Integer.parseInt(args[2]);
        Program.thread("main thrower", () -> {
            while (!Program.begun) {
                Program.sleep(1);
            }
            all(throwing, dying, virtual);
            Program.set("done", 1);
        });
        Program.serve();
    }

    private static void all(int throwing, int dying, int virtual) {
        try {
            Program.thread("thrower", () -> thrower(throwing)).join();
            for (int i = 0; i < dying; i++) {
                Program.count("dying", 1);
                Program.thread("dier", Throws::die).join();
            }
            if (virtual > 0) {
                startVirtual(() -> virtualThrower(virtual)).join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread startVirtual(Runnable body) {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, body);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static void thrower(int n) {
        for (int i = 0; i < n; i++) {
            try {
                if (i % 10 == 0) {
                    seldom();
                } else {
                    often(3);
                }
            } catch (Often e) {
                Program.count("often", 1);
            } catch (Seldom e) {
                Program.count("seldom", 1);
            }
            if (i % 8 == 0) {
                Program.sleep(1);
            }
        }
    }

    private static void virtualThrower(int n) {
        for (int i = 0; i < n; i++) {
            try {
                throw new Virtual();
            } catch (Virtual e) {
                Program.count("virtual", 1);
            }
            if (i % 8 == 0) {
                Program.sleep(1);
            }
        }
    }

    private static void often(int left) {
        if (left == 0) {
            throw new Often();
        }
        often(left - 1);
    }

    private static void seldom() {
        throw new Seldom();
    }

    private static void die() {
        throw new Dying();
    }

    private static void cost(boolean trace) {
        if (trace) {
            deeper(25);
        } else {
            measure(false);
        }
    }

    private static void deeper(int left) {
        if (left == 0) {
            measure(true);
        } else {
            deeper(left - 1);
        }
    }

    private static void measure(boolean trace) {
        int n = trace ? 2_000 : 10_000;
        while (!Program.stopping) {
            long begin = System.nanoTime();
            for (int i = 0; i < n; i++) {
                try {
                    if (trace) {
                        often(4);
                    } else {
                        bare(i);
                    }
                } catch (Bare | Often e) {
                    Program.sink++;
                }
            }
            Program.set("ns", (System.nanoTime() - begin) / n);
            Program.count("rounds", 1);
        }
    }

    private static void bare(int i) {
        if (i >= 0) {
            throw BARE;
        }
    }
}
