package truth;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Waits that last from "begin" to "end": for a monitor and for a lock, or parked in a virtual thread (argument "virtual",
 * JDK 21+). Meanwhile threads wander: each time they stop at the end of another way. Counters: came, those that are
 * about to wait; ended, those that have waited, with the sum of their times, waited (ns).
 */
public final class LongWaits {
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static volatile int held; // 1: the monitor, 2: the lock

    private LongWaits() {
    }

    private static void untilEnd() {
        while (!Program.ending && !Program.stopping) {
            Program.sleep(2);
        }
    }

    private static synchronized void hold(int what) {
        held |= what;
    }

    private static void holdMonitor() {
        synchronized (MONITOR) {
            hold(1);
            untilEnd();
        }
    }

    private static void holdLock() {
        LOCK.lock();
        hold(2);
        untilEnd();
        LOCK.unlock();
    }

    private static void monitor() {
        synchronized (MONITOR) {
            Program.sink++;
        }
    }

    private static void lock() {
        LOCK.lock();
        LOCK.unlock();
    }

    private static void park() {
        while (!Program.ending && !Program.stopping) {
            LockSupport.park();
        }
    }

    private static void measured(Runnable wait) {
        Program.count("came", 1);
        long start = System.nanoTime();
        wait.run();
        Program.count("waited", System.nanoTime() - start);
        Program.count("ended", 1);
    }

    /** One stack of methods, of very many positions in them. */
    private static void wander(int depth, long way) {
        if (depth == 0) {
            LockSupport.parkNanos(100_000);
        } else if ((way & 1) == 0) {
            wander(depth - 1, way >>> 1);
        } else {
            wander(depth - 1, way >>> 1);
        }
    }

    private static void wanderer() {
        while (!Program.stopping) {
            wander(40, ThreadLocalRandom.current().nextLong());
        }
    }

    private static Thread virtual(Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (Thread) Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class)
                .invoke(builder, body);
    }

    private static void begin(boolean virtually) {
        while (!Program.begun && !Program.stopping) {
            Program.sleep(1);
        }
        if (!virtually) {
            Program.thread("waiter-monitor", () -> measured(LongWaits::monitor));
            Program.thread("waiter-lock", () -> measured(LongWaits::lock));
            return;
        }
        try {
            Thread parked = virtual(() -> measured(LongWaits::park));
            untilEnd();
            LockSupport.unpark(parked);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        boolean virtually = args.length > 0 && args[0].equals("virtual");
        Program.count("came", 0);
        Program.count("ended", 0);
        for (int i = 0; i < 4; i++) {
            Program.thread("wanderer-" + i, LongWaits::wanderer);
        }
        Program.thread("holder-monitor", LongWaits::holdMonitor);
        Program.thread("holder-lock", LongWaits::holdLock);
        while (held != 3) {
            Program.sleep(1);
        }
        Program.thread("beginner", () -> begin(virtually));
        Program.serve();
    }
}
