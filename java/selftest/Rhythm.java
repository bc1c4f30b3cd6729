package selftest;

import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * A task each millisecond, which is the period of a trace's ticks, that calls one method for 300 µs and another one
 * for 150. Ticks that come a period apart would meet the same place of it each time.
 */
final class Rhythm implements Scenario {
    private static final long PERIOD_NS = 1_000_000, FIRST_NS = 300_000, SECOND_NS = 150_000;
    private long firstWall, secondWall;

    @Override
    public void start(final long end, final Truth truth, Random random, List<Thread> threads) {
        threads.add(Work.start("selftest-rhythm", new Work.Body() {
            @Override
            public void run() {
                loop(end, truth);
            }
        }));
    }

    private void loop(long end, Truth truth) {
        long tasks = 0;
        for (long next = System.nanoTime(); Work.before(end); tasks++) {
            for (long now = System.nanoTime(); now < next; now = System.nanoTime()) {
                LockSupport.parkNanos(next - now);
            }
            first(FIRST_NS);
            second(SECOND_NS);
            /* what was missed is not made up for */
            long now = System.nanoTime();
            next += PERIOD_NS * Math.max(1, (now - next) / PERIOD_NS);
        }
        truth.add("calls.first", tasks, tasks);
        truth.add("calls.second", tasks, tasks);
        truth.add("time.first", firstWall, tasks);
        truth.add("time.second", secondWall, tasks);
    }

    private void first(long ns) {
        firstWall += Work.spin(ns);
    }

    private void second(long ns) {
        secondWall += Work.spin(ns);
    }
}
