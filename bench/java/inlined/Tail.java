/** The smallest case: a leaf of array reads that depend on each other, inlined twice. */
public final class Tail {
    private static int[] data = new int[1 << 22];

    private static int leaf(int i) {
        int mask = data.length - 1;
        int x = data[i & mask];
        x = data[(x * 31 + i) & mask];
        x = data[(x * 17 + i * 7) & mask];
        x = data[(x * 13 + i * 3) & mask];
        return x;
    }

    private static int mid(int i) {
        return leaf(i * 40503);
    }

    private static int root(int i) {
        return mid(i) + 1;
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < data.length; i++) {
            data[i] = i * 1103515245 + 12345;
        }
        Steady.run(() -> {
            int s = (int) Steady.sink;
            for (int i = 0; i < 10_000; i++) {
                s += root(i * 7919 + s);
            }
            return s;
        });
    }
}
