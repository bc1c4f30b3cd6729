package truth;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads (JDK 21+, started by reflection) that park. "sleep N MS": N of them park for MS at a time, under
 * north() or south(), and add up how long. "ring N NS": N in rings of 100 in which one at a time works for about NS
 * and unparks the next; counts switches.
 */
public final class Parked {
    private static final LongAdder SWITCHES = new LongAdder();
    private static final AtomicLong NORTH = new AtomicLong(), SOUTH = new AtomicLong();
    private static AtomicIntegerArray go;
    private static int work; // rounds of Program.work in a thread's turn
    private static Thread[] threads;

    private static Thread virtual(Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class)
                .invoke(builder, body);
    }

    private static void park(long ns) {
        long end = System.nanoTime() + ns;
        for (long left = ns; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static long north(long ns) {
        long start = System.nanoTime();
        park(ns);
        return NORTH.addAndGet(System.nanoTime() - start);
    }

    private static long south(long ns) {
        long start = System.nanoTime();
        park(ns);
        return SOUTH.addAndGet(System.nanoTime() - start);
    }

    private static void sleeps(int i, long ns) {
        while (!Program.stopping) {
            Program.sink += i % 3 == 0 ? south(ns) : north(ns);
        }
    }

    private static void circles(int me) {
        int next = me / 100 * 100 + (me % 100 + 1) % 100;
        while (!Program.stopping) {
            while (go.get(me) == 0) {
                LockSupport.park();
            }
            go.set(me, 0);
            SWITCHES.increment();
            Program.sink = Program.work(work);
            go.set(next, 1);
            LockSupport.unpark(threads[next]);
        }
    }

    private static long roundsPerMs() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            long start = System.nanoTime();
            Program.sink = Program.work(1_000_000);
            least = Math.min(least, System.nanoTime() - start);
        }
        return 1_000_000_000_000L / least;
    }

    private static void push() {
        for (int i = 0; i < threads.length; i += 100) {
            go.set(i, 1);
            LockSupport.unpark(threads[i]);
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[1]);
        boolean ring = args[0].equals("ring");
        long ns = ring ? 0 : Long.parseLong(args[2]) * 1_000_000;
        work = ring ? (int) (Long.parseLong(args[2]) * roundsPerMs() / 1_000_000) : 0;
        go = new AtomicIntegerArray(n);
        threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            int me = i;
            threads[i] = virtual(ring ? () -> circles(me) : () -> sleeps(me, ns));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        if (ring) {
            /* Not from here: carriers that are busy with their own threads do not look at what comes from outside. */
            virtual(Parked::push).start();
        }
        Program.gauge("now", System::nanoTime);
        Program.gauge("switches", SWITCHES::sum);
        Program.gauge("north", NORTH::get);
        Program.gauge("south", SOUTH::get);
        Program.serve();
    }
}
