package truth;

import java.util.Random;

/**
 * Two threads whose methods have CPU shares fixed by construction: slices of jittered length, each
 * run to its end on the thread's own CPU clock. Counters: CPU ns of each method.
 */
public final class KnownShares {
    /** Not a length that kernels tick at: rounds of 4 ms and ticks of 4 ms drift past each other, and shares with them. */
    private static final int ROUND_US = 11000;

    public static void main(String[] args) throws Exception {
        Program.thread("shares-1", () -> first(new Random(1)));
        Program.thread("shares-2", () -> second(new Random(2)));
        Program.serve();
    }

    private static void first(Random jitter) {
        while (!Program.stopping) {
            count("alpha", alpha(slice(50, jitter)));
            count("beta", beta(slice(30, jitter)));
            count("gamma", gamma(slice(15, jitter)));
            count("delta", delta(slice(5, jitter)));
        }
    }

    private static void second(Random jitter) {
        while (!Program.stopping) {
            count("epsilon", epsilon(slice(70, jitter)));
            count("zeta", zeta(slice(30, jitter)));
        }
    }

    private static void count(String method, long ns) {
        Program.count(method, ns);
    }

    /** Length of a slice of PERCENT of the round, ns, varied by half up and down. */
    private static long slice(int percent, Random jitter) {
        return ROUND_US * 10L * percent * (50 + jitter.nextInt(101)) / 100;
    }

    private static long alpha(long ns) {
        long begin = Program.cpu(), now = begin;
        for (; now - begin < ns; now = Program.cpu()) {
            Program.sink = Program.work(20_000);
        }
        return now - begin;
    }

    private static long beta(long ns) {
        long begin = Program.cpu(), now = begin;
        for (; now - begin < ns; now = Program.cpu()) {
            double d = 1;
            for (int i = 0; i < 10_000; i++) {
                d = Math.sqrt(d + i);
            }
            Program.sink = (long) d;
        }
        return now - begin;
    }

    private static long gamma(long ns) {
        long begin = Program.cpu(), now = begin;
        int[] data = new int[1000];
        for (; now - begin < ns; now = Program.cpu()) {
            for (int round = 0; round < 20; round++) {
                for (int i = 1; i < data.length; i++) {
                    data[i] = data[i - 1] * 31 + i;
                }
            }
            Program.sink = data[999];
        }
        return now - begin;
    }

    private static long delta(long ns) {
        long begin = Program.cpu(), now = begin;
        for (; now - begin < ns; now = Program.cpu()) {
            Program.sink = fibonacci(15);
        }
        return now - begin;
    }

    private static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    private static long epsilon(long ns) {
        long begin = Program.cpu(), now = begin;
        for (; now - begin < ns; now = Program.cpu()) {
            Program.sink = Integer.toString((int) now).hashCode() + Program.work(10_000);
        }
        return now - begin;
    }

    private static long zeta(long ns) {
        long begin = Program.cpu(), now = begin;
        byte[] from = new byte[64 * 1024], to = new byte[64 * 1024];
        for (; now - begin < ns; now = Program.cpu()) {
            for (int i = 0; i < 8; i++) {
                System.arraycopy(from, 0, to, 0, from.length);
            }
        }
        return now - begin;
    }
}
