package truth;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * Ways in which a JVM ends, each while two threads are busy; `end` on stdin begins it. Arguments:
 * library, way. The busy threads deoptimise, replace loops on the stack and overflow it meanwhile.
 * Counters: overflows, deopts.
 */
public final class Ends {
    private static final List<long[]> KEPT = new ArrayList<>();
    private static volatile Shape shape = new Square();

    private interface Shape {
        long area(long x);
    }

    private static final class Square implements Shape {
        @Override
        public long area(long x) {
            return x * x;
        }
    }

    private Ends() {
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Program.thread("loops", Ends::loops);
        Program.thread("overflows", Ends::overflows);
        Program.thread("ender", () -> {
            while (!Program.ending) {
                Program.sleep(1);
            }
            end(args[1]);
        });
        Program.serve();
    }

    private static void end(String way) {
        switch (way) {
            case "exit": System.exit(3); break;
            case "halt": Runtime.getRuntime().halt(4); break;
            case "crash": Tricks.crash(); break;
            case "abort": Tricks.aborted(); break;
            case "memory": fill(); break;
            case "unsafe": unsafe(); break;
            default: throw new IllegalArgumentException(way);
        }
    }

    /** OutOfMemoryError; what comes of it is for the JVM's flags to say. */
    private static void fill() {
        while (true) {
            KEPT.add(new long[1 << 20]);
        }
    }

    /** A crash in the JVM's own code. */
    private static void unsafe() {
        try {
            Class<?> type = Class.forName("sun.misc.Unsafe");
            Field field = type.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            type.getMethod("putLong", long.class, long.class).invoke(field.get(null), 8L, 1L);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Loops that get compiled while they run, on assumptions that each round breaks. */
    private static void loops() {
        while (!Program.stopping) {
            shape = new Square();
            turn(60_000);
            long by = System.nanoTime() & 7;
            shape = new Shape() {
                @Override
                public long area(long x) {
                    return x + by;
                }
            };
            turn(200);
            Program.count("deopts", 1);
        }
    }

    private static void turn(int rounds) {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += shape.area(i);
        }
        Program.sink = sum;
    }

    private static void overflows() {
        while (!Program.stopping) {
            try {
                Program.sink = overflow(1);
            } catch (StackOverflowError e) {
                Program.count("overflows", 1);
            }
        }
    }

    private static long overflow(long depth) {
        return overflow(depth + 1) + depth;
    }
}
