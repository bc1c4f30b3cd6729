package truth;

/** One thread, one call chain: Thread.run, OneChain.run, one, two, three, four, five. */
public final class OneChain implements Runnable {
    public static void main(String[] args) throws Exception {
        Program.thread("chain", new OneChain());
        Program.serve();
    }

    @Override
    public void run() {
        while (!Program.stopping) {
            one(7);
        }
    }

    private static long one(long x) {
        return two(x + 1) ^ x;
    }

    private static long two(long x) {
        return three(x * 3) + x;
    }

    private static long three(long x) {
        long sum = 0;
        for (int i = 0; i < 10; i++) {
            sum += four(x + i);
        }
        return sum;
    }

    private static long four(long x) {
        return five(x ^ 0x5555) - 1;
    }

    private static long five(long x) {
        for (int i = 0; i < 300; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= (x << 17) + i;
        }
        return x;
    }
}
