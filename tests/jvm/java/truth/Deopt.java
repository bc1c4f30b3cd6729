package truth;

import java.util.concurrent.locks.LockSupport;

/**
 * N threads that sleep in compiled code which holds only as long as no second class overrides step(): "end" loads
 * one, and their frames are deoptimised while they sleep. They never wake.
 */
public final class Deopt {
    /** What they call. */
    public static class Base {
        void step(int depth, boolean sleep) {
            if (depth > 0) {
                over(this, depth - 1, sleep);
            } else if (sleep) {
                LockSupport.park();
            } else {
                Program.sink++;
            }
        }
    }

    /** Loaded late. */
    public static final class Second extends Base {
        @Override
        void step(int depth, boolean sleep) {
            Program.sink--;
        }
    }

    private static void over(Base base, int depth, boolean sleep) {
        base.step(depth, sleep);
        Program.sink++;
    }

    private static void sleeper(Base base) {
        while (!Program.stopping) {
            over(base, 5, true);
        }
    }

    public static void main(String[] args) throws Exception {
        Base base = new Base();
        for (int i = 0; i < 60_000; i++) {
            over(base, 5, false);
        }
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            Program.thread("sleeper", () -> sleeper(base));
        }
        Program.sleep(200);
        Program.thread("loader", () -> {
            while (!Program.ending) {
                Program.sleep(5);
            }
            try {
                ((Base) Class.forName("truth.Deopt$Second").getDeclaredConstructor().newInstance()).step(1, false);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            Program.set("loaded", 1);
        });
        Program.serve();
    }
}
