package selftest;

import java.util.List;
import java.util.Random;

/**
 * CPU time. One thread whose methods have shares fixed by slices of random length, each run to its end on the thread's
 * CPU clock; one whose time goes to a leaf that compilers inline twice, and to a copy inside the JVM.
 */
final class Shares implements Scenario {
    /** Not a length that kernels tick at: rounds of 4 ms and ticks of 4 ms drift past each other, and shares with them. */
    private static final long ROUND_NS = 7_000_000;
    private static final int CELLS = 1 << 20;
    private static int[] next = cells();

    @Override
    public void start(final long end, final Truth truth, final Random random, List<Thread> threads) {
        final long first = random.nextLong(), second = random.nextLong();
        threads.add(Work.start("selftest-shares", new Work.Body() {
            @Override
            public void run() {
                first(end, truth, new Random(first));
            }
        }));
        threads.add(Work.start("selftest-inlined", new Work.Body() {
            @Override
            public void run() {
                second(end, truth, new Random(second));
            }
        }));
    }

    /** One cycle through all cells, so that each read waits for the one before. */
    private static int[] cells() {
        int[] cells = new int[CELLS];
        for (int i = 0, at = 0; i < CELLS; i++) {
            int to = (at * 1664525 + 1013904223) & (CELLS - 1);
            cells[at] = to;
            at = to;
        }
        return cells;
    }

    private static long slice(int percent, Random random) {
        return ROUND_NS / 100 * percent / 2 + (long) (random.nextDouble() * ROUND_NS / 100 * percent);
    }

    private static void first(long end, Truth truth, Random random) {
        long began = System.nanoTime(), cpu = Truth.cpu(), a = 0, b = 0, c = 0;
        while (Work.before(end)) {
            a += most(slice(55, random));
            b += some(slice(35, random));
            c += little(slice(10, random));
        }
        truth.add("cpu.first", Truth.cpu() - cpu, 1);
        truth.add("life.first", System.nanoTime() - began, 1);
        truth.add("cpu.most", a, 1);
        truth.add("cpu.some", b, 1);
        truth.add("cpu.little", c, 1);
    }

    private static void second(long end, Truth truth, Random random) {
        long began = System.nanoTime(), cpu = Truth.cpu(), a = 0, b = 0;
        while (Work.before(end)) {
            a += root(slice(70, random));
            b += copies(slice(30, random));
        }
        truth.add("cpu.second", Truth.cpu() - cpu, 1);
        truth.add("life.second", System.nanoTime() - began, 1);
        truth.add("cpu.leaf", a, 1);
        truth.add("cpu.copies", b, 1);
    }

    private static long most(long ns) {
        long begin = Truth.cpu(), now = begin;
        for (; now - begin < ns; now = Truth.cpu()) {
            Work.sink = Work.rounds(20_000);
        }
        return now - begin;
    }

    private static long some(long ns) {
        long begin = Truth.cpu(), now = begin;
        for (; now - begin < ns; now = Truth.cpu()) {
            double d = 1;
            for (int i = 0; i < 10_000; i++) {
                d = Math.sqrt(d + i);
            }
            Work.sink = (long) d;
        }
        return now - begin;
    }

    private static long little(long ns) {
        long begin = Truth.cpu(), now = begin;
        for (; now - begin < ns; now = Truth.cpu()) {
            Work.sink = fibonacci(16);
        }
        return now - begin;
    }

    private static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    private static long root(long ns) {
        long begin = Truth.cpu(), now = begin;
        int at = (int) Work.sink & (CELLS - 1);
        for (; now - begin < ns; now = Truth.cpu()) {
            at = walk(at);
        }
        Work.sink = at;
        return now - begin;
    }

    private static int walk(int at) {
        for (int i = 0; i < 10_000; i++) {
            at = middle(at);
        }
        return at;
    }

    private static int middle(int at) {
        return leaf(at);
    }

    /**
     * A timer's signal comes at the instruction that waits for what was read, so the last read is waited for in here:
     * what is added is 0, as no compiler knows.
     */
    private static int leaf(int at) {
        int x = next[next[next[next[at]]]];
        return x + (x >>> 24);
    }

    private static long copies(long ns) {
        long begin = Truth.cpu(), now = begin;
        byte[] from = new byte[64 * 1024], to = new byte[64 * 1024];
        for (; now - begin < ns; now = Truth.cpu()) {
            for (int i = 0; i < 8; i++) {
                System.arraycopy(from, 0, to, 0, from.length);
            }
        }
        return now - begin;
    }
}
