package app;

/** A program that is over soon: its CPU time is in burn(). */
public final class Work {
    private static volatile long sink;

    public static long burn(long ms) {
        long until = System.nanoTime() + ms * 1_000_000;
        long x = 1;
        while (System.nanoTime() < until) {
            for (int i = 0; i < 10_000; i++) {
                x = x * 6364136223846793005L + 1;
            }
        }
        sink = x;
        return x;
    }

    public static void main(String[] args) {
        burn(args.length > 0 ? Long.parseLong(args[0]) : 700);
    }
}
