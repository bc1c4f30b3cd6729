package truth;

/**
 * A JVM that stands at a safepoint for long: after "end" a thread that can be stopped nowhere loops for SECONDS while another one
 * asks for a collection; with a second argument again and again, also while the JVM ends, but for 5 s at most: on a busy
 * machine, collections keep the JVM from its end for minutes, with us or without. Needs -XX:-UseCountedLoopSafepoints -XX:LoopStripMiningIter=0. Counter `loops`: how many ended.
 */
public final class LongSafepoint {
    private LongSafepoint() {
    }

    public static void main(String[] args) throws Exception {
        long wanted = (long) (Double.parseDouble(args[0]) * 1e9);
        int rounds = 1_000_000;
        while (time(rounds) < 100_000_000L) { // until it is compiled, and long enough to be measured
            rounds += rounds / 2;
        }
        long took = time(rounds);
        for (int i = 0; i < 4; i++) {
            took = Math.min(took, time(rounds)); // one that nothing else disturbed
        }
        int all = (int) Math.min(Integer.MAX_VALUE - 1, (double) rounds * wanted / took);
        Program.thread("loop", () -> {
            while (!Program.ending) {
                Program.sleep(1);
            }
            boolean again = args.length > 1;
            long end = System.nanoTime() + (again ? 5_000_000_000L : wanted);
            Program.thread("collect", () -> {
                do {
                    System.gc();
                } while (again && System.nanoTime() < end);
            });
            while (System.nanoTime() < end) {
                Program.sink += loop(all);
            }
            Program.count("loops", 1);
        });
        Program.serve();
    }

    private static long time(int rounds) {
        long begin = System.nanoTime();
        Program.sink += loop(rounds);
        return System.nanoTime() - begin;
    }

    /** Each step needs the one before: the compiler can neither shorten it nor take it apart. */
    private static long loop(int rounds) {
        long x = 1;
        for (int i = 0; i < rounds; i++) {
            x = x * 6364136223846793005L + i;
            x ^= x / (i | 1); // slow enough for an int to count to what is wanted
        }
        return x;
    }
}
