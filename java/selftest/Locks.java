package selftest;

import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Waits for locks. One thread waits, and measures each wait; another holds what it waits for. */
final class Locks implements Scenario {
    private static final String[] WAYS = {"enters", "locks", "waits", "parks"};
    private static final int OWNED = 2; // of them are for something that a thread holds
    private final Object monitor = new Object(), never = new Object();
    private final ReentrantLock lock = new ReentrantLock();
    private final Semaphore wanted = new Semaphore(0), held = new Semaphore(0);
    private volatile boolean ended;

    @Override
    public void start(final long end, final Truth truth, Random random, List<Thread> threads) {
        final Random waiting = new Random(random.nextLong()), holding = new Random(random.nextLong());
        threads.add(Work.start("selftest-waiter", new Work.Body() {
            @Override
            public void run() throws Exception {
                loop(end, truth, waiting);
            }
        }));
        threads.add(Work.start("selftest-holder", new Work.Body() {
            @Override
            public void run() throws Exception {
                hold(holding);
            }
        }));
    }

    private void loop(long end, Truth truth, Random random) throws Exception {
        Delay delay = new Delay();
        long[] sums = new long[WAYS.length], delays = new long[WAYS.length];
        long rounds = 0;
        for (; Work.before(end); rounds++) {
            for (int i = 0; i < WAYS.length; i++) {
                if (i < OWNED) {
                    holder();
                }
                long late = delay.now();
                sums[i] += wait(i, 2 + random.nextInt(8));
                delays[i] += delay.now() - late;
            }
        }
        delay.close();
        ended = true;
        wanted.release();
        for (int i = 0; i < WAYS.length; i++) {
            truth.add("lock." + WAYS[i], sums[i], rounds, delays[i]);
            if (i < OWNED) {
                truth.add("lock.owned", sums[i], rounds, delays[i]);
            }
        }
    }

    private long wait(int way, int ms) throws Exception {
        switch (way) {
            case 0: return enters();
            case 1: return locks();
            case 2: return waits(ms);
            default: return parks(ms);
        }
    }

    /** Comes back when the holder has the lock that is next. */
    private void holder() throws Exception {
        wanted.release();
        held.acquire();
    }

    private void hold(Random random) throws Exception {
        for (boolean first = true;; first = !first) {
            wanted.acquire();
            if (ended) {
                return;
            }
            int ms = 2 + random.nextInt(8);
            if (first) {
                synchronized (monitor) {
                    held.release();
                    Thread.sleep(ms);
                }
            } else {
                lock.lock();
                held.release();
                Thread.sleep(ms);
                lock.unlock();
            }
        }
    }

    private long enters() {
        long at = System.nanoTime();
        synchronized (monitor) {
            return System.nanoTime() - at;
        }
    }

    private long locks() {
        long at = System.nanoTime();
        lock.lock();
        at = System.nanoTime() - at;
        lock.unlock();
        return at;
    }

    private long waits(int ms) throws Exception {
        synchronized (never) {
            long at = System.nanoTime();
            never.wait(ms);
            return System.nanoTime() - at;
        }
    }

    private long parks(int ms) {
        long at = System.nanoTime();
        LockSupport.parkNanos(ms * 1_000_000L);
        return System.nanoTime() - at;
    }
}
