package truth;

import java.util.concurrent.locks.LockSupport;

/**
 * A task at a fixed rate, args[0] µs apart, that calls first() for args[1] µs and second() for args[2]. Counters: first,
 * second: ns that they took by the program's own clock, from their begin to their end; tasks.
 */
public final class Rhythm {
    private static long firstInside, secondInside;

    private Rhythm() {
    }

    static void first(long ns) {
        long began = System.nanoTime();
        firstInside = spin(began + ns) - began;
    }

    static void second(long ns) {
        long began = System.nanoTime();
        secondInside = spin(began + ns) - began;
    }

    private static long spin(long until) {
        long now = System.nanoTime();
        while (now < until) {
            now = System.nanoTime();
        }
        return now;
    }

    private static void tasks(long period, long first, long second) {
        long next = System.nanoTime();
        while (!Program.stopping) {
            for (long now = System.nanoTime(); now < next; now = System.nanoTime()) {
                LockSupport.parkNanos(next - now);
            }
            first(first);
            second(second);
            Program.count("first", firstInside);
            Program.count("second", secondInside);
            Program.count("tasks", 1);
            /* what was missed is not made up for */
            long end = System.nanoTime();
            next = Math.max(next + period, end - end % period);
        }
    }

    public static void main(String[] args) throws Exception {
        long period = Long.parseLong(args[0]) * 1000, first = Long.parseLong(args[1]) * 1000, second = Long.parseLong(args[2]) * 1000;
        Program.thread("tasks", () -> tasks(period, first, second));
        Program.serve();
    }
}
