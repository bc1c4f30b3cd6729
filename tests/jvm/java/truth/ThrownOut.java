package truth;

/** Exceptions that leave an interpreted method, `thrower` (excluded from compilation by the test), into a compiled one. */
public final class ThrownOut {
    private static final RuntimeException THROWN = new RuntimeException("thrown", null, false, false) { };

    public static void main(String[] args) throws Exception {
        Program.thread("thrown-out", () -> {
            for (long rounds = 1; !Program.stopping; rounds++) {
                Program.sink += run(1000);
                Program.set("rounds", rounds);
            }
        });
        Program.serve();
    }

    private static int run(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += caller(i);
        }
        return sum;
    }

    private static int caller(int i) {
        try {
            thrower(i);
        } catch (RuntimeException e) {
            return i;
        }
        return 0;
    }

    private static void thrower(int i) {
        if (i >= 0) {
            throw THROWN;
        }
        Program.sink++;
    }
}
