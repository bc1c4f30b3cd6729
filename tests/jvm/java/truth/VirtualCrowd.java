package truth;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * N virtual threads (JDK 21+, started by reflection) called "vt-0", … that begin at "begin" and park: "brief MS": once
 * for MS, and end; "long": until "end", and end, all at once. Counters: came, ended; parked (ns, of those that ended).
 * Argument 3, R: each is started again R times, one after the other.
 */
public final class VirtualCrowd {
    private static final LongAdder PARKED = new LongAdder(), CAME = new LongAdder(), ENDED = new LongAdder();
    private static final AtomicInteger GO = new AtomicInteger();

    private VirtualCrowd() {
    }

    private static void brief(long ns) {
        long end = System.nanoTime() + ns;
        for (long left = ns; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static void untilEnd() {
        while (GO.get() == 0 && !Program.stopping) {
            LockSupport.park();
        }
    }

    private static void measured(long ns) {
        CAME.increment();
        long start = System.nanoTime();
        if (ns > 0) {
            brief(ns);
        } else {
            untilEnd();
        }
        PARKED.add(System.nanoTime() - start);
        ENDED.increment();
    }

    private static Thread virtual(String name, Runnable body) throws Exception {
        Class<?> builders = Class.forName("java.lang.Thread$Builder");
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        builder = builders.getMethod("name", String.class).invoke(builder, name);
        return (Thread) builders.getMethod("start", Runnable.class).invoke(builder, body);
    }

    private static void run(int n, long ns, int rounds) {
        Thread[] threads = new Thread[n];
        while (!Program.begun && !Program.stopping) {
            Program.sleep(1);
        }
        try {
            for (int round = 0; round < rounds && !Program.stopping; round++) {
                for (int i = 0; i < n; i++) {
                    threads[i] = virtual("vt-" + i, () -> measured(ns));
                }
                while (ns == 0 && !Program.ending && !Program.stopping) {
                    Program.sleep(1);
                }
                GO.set(1);
                for (int i = 0; ns == 0 && i < n; i++) {
                    LockSupport.unpark(threads[i]);
                }
                for (Thread thread : threads) {
                    thread.join();
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        long ns = args[1].equals("brief") ? Long.parseLong(args[2]) * 1_000_000 : 0;
        int rounds = args.length > 3 ? Integer.parseInt(args[3]) : 1;
        Program.gauge("came", CAME::sum);
        Program.gauge("ended", ENDED::sum);
        Program.gauge("parked", PARKED::sum);
        Program.thread("starter", () -> run(n, ns, rounds));
        Program.serve();
    }
}
