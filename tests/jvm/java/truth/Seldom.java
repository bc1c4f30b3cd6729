package truth;

/**
 * A small method that is called all the time, and one inlined into it that runs in one call of 256: its code lies behind
 * the return of the other one. Counter `rounds`: of 10 million calls.
 */
public final class Seldom {
    private static int seldom;

    public static void main(String[] args) throws Exception {
        Program.thread("seldom", Seldom::loop);
        Program.serve();
    }

    private static void loop() {
        while (!Program.stopping) {
            int sum = (int) Program.sink;
            for (int i = 0; i < 10_000_000; i++) {
                sum += often(i + sum);
            }
            Program.sink = sum;
            Program.count("rounds", 1);
        }
    }

    /** Not to be inlined: the test says so to the JVM. */
    private static int often(int x) {
        int y = x * 7 + (x >>> 3);
        if ((x & 255) == 0) {
            return seldom(y);
        }
        return y ^ (x << 1);
    }

    /** Its loop is a place that compilers describe. */
    private static int seldom(int x) {
        seldom++;
        int y = x;
        for (int i = 0; i < 3; i++) {
            y = y * 31 + (y >>> 7);
        }
        return y;
    }
}
