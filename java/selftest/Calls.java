package selftest;

import java.util.List;
import java.util.Random;

/** Calls, on so many threads. */
final class Calls implements Scenario {
    private final int threads;

    Calls(int threads) {
        this.threads = threads;
    }

    @Override
    public void start(final long end, final Truth truth, Random random, List<Thread> threads) {
        for (int i = 0; i < this.threads; i++) {
            final Random own = new Random(random.nextLong());
            threads.add(Work.start("selftest-calls-" + i, new Work.Body() {
                @Override
                public void run() {
                    loop(end, truth, own);
                }
            }));
        }
    }

    private static void loop(long end, Truth truth, Random random) {
        Traced t = new Traced(0);
        while (Work.before(end)) {
            t.outer(random);
        }
        truth.add("calls.outer", t.outer, t.outer);
        truth.add("calls.works", t.works, t.works);
        truth.add("calls.sleeps", t.sleeps, t.sleeps);
        truth.add("calls.quick", t.quick, t.quick);
        truth.add("calls.recursive", t.recursive, t.recursive);
        truth.add("calls.make", t.made, t.made);
        truth.add("calls.new", t.made + 1, t.made + 1);
        truth.add("calls.fails", t.failed, t.failed);
        truth.add("time.works", t.worksWall, t.works);
        truth.add("time.works-cpu", t.worksCpu, t.works);
        truth.add("time.sleeps", t.sleepsWall, t.sleeps);
        truth.add("time.outer", t.outerWall, t.outer);
    }
}
