package selftest;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Virtual threads (JDK 21 and later) that park most of the time; each lives for some rounds, then another one begins. */
final class Virtual implements Scenario {
    private static final int THREADS = 8, ROUNDS = 20;

    @Override
    public void start(final long end, final Truth truth, Random random, List<Thread> threads) throws Exception {
        final Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        for (int i = 0; i < THREADS; i++) {
            final Random own = new Random(random.nextLong());
            threads.add(Work.start("selftest-virtual-" + i, new Work.Body() {
                @Override
                public void run() throws Exception {
                    while (Work.before(end)) {
                        ((Thread) start.invoke(null, rounds(truth, own))).join();
                    }
                }
            }));
        }
    }

    private static Runnable rounds(final Truth truth, final Random random) {
        return new Runnable() {
            @Override
            public void run() {
                long sum = 0;
                for (int i = 0; i < ROUNDS; i++) {
                    sum += parks(4_000_000 + random.nextInt(20_000_000));
                    Work.spin(100_000);
                }
                truth.add("virtual.parks", sum, ROUNDS);
            }
        };
    }

    private static long parks(long ns) {
        long at = System.nanoTime();
        LockSupport.parkNanos(ns);
        return System.nanoTime() - at;
    }
}
