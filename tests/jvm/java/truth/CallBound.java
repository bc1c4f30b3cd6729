package truth;

/**
 * CallBound THREADS: calls of known cost, without end. Counters, of all threads together: calls, CPU ns and real ns of tiny
 * recursive calls (fib), of chains of tiny calls (chain), of calls that work some 80 ns (leaf); and of the clock.
 */
public final class CallBound {
    static volatile int guard;
    private static long sink;

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int chain(int x) {
        return one(x) + 1;
    }

    static int one(int x) {
        return two(x) * 3;
    }

    static int two(int x) {
        return three(x) ^ 5;
    }

    static int three(int x) {
        return x + guard;
    }

    static int leaf(int x) {
        for (int i = 0; i < 120; i++)
            x = x * 31 + (x >>> 7);
        return x;
    }

    private static long chains(int count) {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += chain(i);
        return sum;
    }

    private static long leaves(int count) {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += leaf(i);
        return sum;
    }

    private static long clocks(int count) {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += System.nanoTime();
        return sum;
    }

    /** Now: {CPU ns of this thread, real ns}. */
    private static long[] now() {
        return new long[] {Program.cpu(), System.nanoTime()};
    }

    private static long[] note(String name, long calls, long[] since) {
        long[] now = now();
        Program.count(name + "_ns", now[0] - since[0]);
        Program.count(name + "_real", now[1] - since[1]);
        Program.count(name + "_calls", calls);
        return now();
    }

    private static void work() {
        while (!Program.stopping) {
            long[] at = now();
            sink += fib(24);
            at = note("fib", 150_049, at);
            sink += chains(100_000);
            at = note("chain", 400_000, at);
            sink += leaves(20_000);
            at = note("leaf", 20_000, at);
            sink += clocks(5_000);
            note("clock", 5_000, at);
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        for (int i = 0; i < threads; i++)
            Program.thread("calls-" + i, CallBound::work);
        Program.serve();
    }
}
