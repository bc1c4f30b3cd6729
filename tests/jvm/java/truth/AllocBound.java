package truth;

/**
 * A thread that does nothing but allocate: arrays of 1,008 bytes, 30 calls deep. `bytes` is how much so far.
 */
public final class AllocBound {
    private static final int LENGTH = 992, HEADER = 16, ROUNDS = 1000;
    private static volatile byte[] last;

    private AllocBound() {
    }

    private static int down(int depth, int round) {
        if (depth > 0) {
            return down(depth - 1, round) + 1;
        }
        for (int i = 0; i < ROUNDS; i++) {
            last = new byte[LENGTH];
        }
        return round;
    }

    public static void main(String[] args) throws Exception {
        Program.thread("allocator", () -> {
            for (int round = 0; !Program.stopping; round++) {
                Program.sink = down(30, round);
                Program.count("bytes", ROUNDS * (LENGTH + HEADER));
            }
        });
        Program.serve();
    }
}
