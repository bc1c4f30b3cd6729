package selftest;

import java.util.List;
import java.util.Random;

/** CPU time of threads that live for less than an interval, one after the other, two at a time. */
final class Short implements Scenario {
    private static final int AT_A_TIME = 2;

    @Override
    public void start(final long end, final Truth truth, Random random, List<Thread> threads) {
        for (int i = 0; i < AT_A_TIME; i++) {
            final Random own = new Random(random.nextLong());
            threads.add(Work.start("selftest-shorts-" + i, new Work.Body() {
                @Override
                public void run() throws Exception {
                    while (Work.before(end)) {
                        begin(truth, 2_000_000 + own.nextInt(4_000_000)).join();
                    }
                }
            }));
        }
    }

    private static Thread begin(final Truth truth, final long ns) {
        return Work.start("selftest-short", new Work.Body() {
            @Override
            public void run() {
                truth.add("cpu.short", works(ns), 1);
            }
        });
    }

    private static long works(long ns) {
        long begin = Truth.cpu(), now = begin;
        for (; now - begin < ns; now = Truth.cpu()) {
            Work.sink = Work.rounds(20_000);
        }
        return now - begin;
    }
}
