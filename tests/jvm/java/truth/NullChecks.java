package truth;

/**
 * Faults that belong to the JVM: null checks by SIGSEGV, safepoint polls, stack overflows. A
 * profiler that chains these signals wrongly makes this program crash or lose exceptions.
 * Counters: exceptions `caught`, and those that should have come and did not: `missed`.
 */
public final class NullChecks {
    private int[] data;
    private int depth;

    public static void main(String[] args) throws Exception {
        Program.thread("null-checks", () -> nulls(new NullChecks()));
        Program.thread("overflows", () -> overflows(new NullChecks()));
        Program.thread("safepoints", () -> {
            while (!Program.stopping) {
                System.gc();
                Program.count("safepoints", 1);
                Program.sleep(20);
            }
        });
        Program.serve();
    }

    private static void nulls(NullChecks object) {
        while (!Program.stopping) {
            int caught = 0;
            for (int i = 0; i < 1000; i++) {
                object.data = i % 10 == 0 ? null : new int[1];
                try {
                    object.data[0] = i;
                } catch (NullPointerException e) {
                    caught++;
                }
            }
            Program.count("caught", caught);
            Program.count("missed", 100 - caught);
        }
    }

    private static void overflows(NullChecks object) {
        while (!Program.stopping) {
            try {
                object.depth = 0;
                object.overflow();
            } catch (StackOverflowError e) {
                Program.count("overflows", 1);
            }
            Program.sleep(10);
        }
    }

    private int overflow() {
        depth++;
        return overflow() + 1;
    }
}
