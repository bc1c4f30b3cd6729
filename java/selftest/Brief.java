package selftest;

import java.util.List;
import java.util.Random;

/**
 * Threads that end before a sampling interval is over: two at a time, one after the other, of 0.2 to 0.6 ms of CPU time
 * and of 1 to 1.8 ms in turn.
 */
final class Brief implements Scenario {
    private static final int AT_A_TIME = 2;

    @Override
    public void start(final long end, final Truth truth, Random random, List<Thread> threads) {
        for (int i = 0; i < AT_A_TIME; i++) {
            final Random own = new Random(random.nextLong());
            threads.add(Work.start("selftest-starter-" + i, new Work.Body() {
                @Override
                public void run() throws Exception {
                    for (boolean first = true; Work.before(end); first = !first) {
                        live(first, own.nextDouble(), truth).join();
                    }
                }
            }));
        }
    }

    private static Thread live(final boolean first, final double chance, final Truth truth) {
        return Work.start("selftest-brief", new Work.Body() {
            @Override
            public void run() {
                long ns = both(first, chance);
                truth.add("brief.both", ns, 1);
                truth.add(first ? "brief.shorter" : "brief.longer", ns, 1);
            }
        });
    }

    private static long both(boolean first, double chance) {
        return first ? shorter(200_000 + (long) (chance * 400_000)) : longer(1_000_000 + (long) (chance * 800_000));
    }

    private static long shorter(long ns) {
        return Work.burn(ns);
    }

    private static long longer(long ns) {
        return Work.burn(ns);
    }
}
