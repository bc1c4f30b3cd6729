package truth;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * What comes and goes, at a steady rate: threads with names that no other has (counter threads), hidden classes that
 * are not kept (classes), other names of one thread (names), virtual threads of which one in eight parks on its way
 * (JDK 21+, virtuals). Arguments: how many of each a second; the last may be left out.
 */
public final class Comings {
    private static final AtomicInteger LIVING = new AtomicInteger(), VIRTUAL = new AtomicInteger();
    private static final AtomicLong MET = new AtomicLong(), PARKED = new AtomicLong(); // ns

    private interface Step {
        void take(int number) throws Exception;
    }

    private Comings() {
    }

    public static void main(String[] args) throws Exception {
        coming("threads", Integer.parseInt(args[0]), Comings::comer);
        coming("classes", Integer.parseInt(args[1]), Comings::hidden);
        Thread renamed = Program.thread("renamed", () -> {
            while (!Program.stopping) {
                Program.sink = Program.work(20_000);
                Program.sleep(1);
            }
        });
        coming("names", Integer.parseInt(args[2]), number -> renamed.setName("renamed-" + number));
        if (args.length > 3) {
            virtuals(Integer.parseInt(args[3]));
        }
        Program.serve();
    }

    /** STEP so many times a SECOND, in step with the clock. */
    private static void coming(String what, int second, Step step) {
        Program.count(what, 0);
        if (second == 0) {
            return;
        }
        Program.thread("make-" + what, () -> {
            long began = System.nanoTime();
            try {
                for (int n = 1; !Program.stopping; n++) {
                    step.take(n);
                    Program.count(what, 1);
                    long due = began + n * 1_000_000_000L / second, rest = due - System.nanoTime();
                    if (rest > 500_000) {
                        LockSupport.parkNanos(rest);
                    } else if (rest < -1_000_000_000L) {
                        began -= rest; // a machine that is too slow for it
                    }
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static void comer(int number) throws Exception {
        // no join(): the JVM keeps the monitors of those that are waited for
        while (LIVING.get() > 64) {
            LockSupport.parkNanos(100_000);
        }
        LIVING.incrementAndGet();
        Program.thread("comer-" + number, () -> {
            Program.sink = Program.work(3_000);
            LIVING.decrementAndGet();
        });
    }

    private static void virtuals(int second) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Method start = Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class);
        Program.gauge("met", MET::get);
        Program.gauge("parked", PARKED::get);
        coming("virtuals", second, number -> {
            while (VIRTUAL.get() > 2000) {
                LockSupport.parkNanos(100_000);
            }
            VIRTUAL.incrementAndGet();
            start.invoke(builder, (Runnable) () -> visitor(number));
        });
    }

    private static void visitor(int number) {
        meet(number);
        if (number % 8 == 0) {
            long start = System.nanoTime();
            LockSupport.parkNanos(1_000_000);
            PARKED.addAndGet(System.nanoTime() - start);
        }
        meet(number);
        VIRTUAL.decrementAndGet();
    }

    /** Called twice by each virtual thread. */
    private static void meet(int number) {
        Program.sink = Program.work(100);
        MET.incrementAndGet();
    }

    private static void hidden(int number) throws Exception {
        byte[] bytes = ClassBytes.make("truth/Hidden", number % 100, number % 4, number % 3);
        Class<?> option = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
        Method define = MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class, boolean.class,
            Array.newInstance(option, 0).getClass());
        MethodHandles.Lookup made = (MethodHandles.Lookup) define.invoke(MethodHandles.lookup(), bytes, false,
            Array.newInstance(option, 0));
        ((Runnable) made.lookupClass().getConstructor().newInstance()).run();
    }
}
