package truth;

/**
 * The smallest case of inlined code that is hardly described: root calls mid, mid calls leaf, and leaf reads an array
 * four times, each time where the read before says. Counter `rounds`: of 100,000 calls.
 */
public final class Tail {
    private static int[] data = new int[1 << 22];

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < data.length; i++) {
            data[i] = i * 1103515245 + 12345;
        }
        Program.thread("tail", Tail::loop);
        Program.serve();
    }

    private static void loop() {
        while (!Program.stopping) {
            int sum = (int) Program.sink;
            for (int i = 0; i < 100_000; i++) {
                sum += root(i * 7919 + sum);
            }
            Program.sink = sum;
            Program.count("rounds", 1);
        }
    }

    /** Not to be inlined: the test says so to the JVM. */
    private static int root(int i) {
        return mid(i) + 1;
    }

    private static int mid(int i) {
        return leaf(i * 40503);
    }

    private static int leaf(int i) {
        int mask = data.length - 1;
        int x = data[i & mask];
        x = data[(x * 31 + i) & mask];
        x = data[(x * 17 + i * 7) & mask];
        x = data[(x * 13 + i * 3) & mask];
        return x;
    }
}
