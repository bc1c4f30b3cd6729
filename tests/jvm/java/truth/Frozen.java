package truth;

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads (JDK 21+, started by reflection) whose deep stacks are frozen, then thawed frame by frame as they
 * return. "DEPTH THREADS STORM LOCK SEED…": thread i runs under root0 to root3, (i mod 4), and each level L under it
 * calls next(), which calls d0 to d7 by the L-th octal digit of the root's seed, so that each stack can be proved. They
 * park at the bottom and, now and then, on the way back, and work in between; with LOCK not 0 they also wait for a lock
 * there. With STORM not 0 a thread makes garbage meanwhile, old and young.
 */
public final class Frozen {
    private static final int DIGITS = 20; // octal ones of a seed
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static int depth;
    private static boolean locks;
    private static long[] seeds;
    private static Object[] old = new Object[4096];

    private static void burn() {
        Program.sink = Program.work(20_000);
    }

    private static void park() {
        LockSupport.parkNanos(1_000_000);
    }

    private static void held() {
        LOCK.lock();
        try {
            burn();
        } finally {
            LOCK.unlock();
        }
    }

    private static long leaf(long seed) {
        burn();
        park();
        burn();
        if (locks) {
            held();
        }
        return seed;
    }

    private static long back(long value, int level) {
        if (level % 8 == 3) {
            burn();
        }
        if (level % 128 == 67) {
            park();
            burn();
        }
        return value + level;
    }

    private static long next(long seed, int level) {
        if (level == depth) {
            return leaf(seed);
        }
        switch ((int) (seed >>> 3 * (level % DIGITS)) & 7) {
            case 0: return d0(seed, level);
            case 1: return d1(seed, level, 1, 2, 3, 4, 5, 6, 7, 8);
            case 2: return d2(level, seed);
            case 3: return d3(level, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, seed);
            case 4: return d4(seed, level, "four");
            case 5: return d5(seed, level, 1, 2, 3, 4, 5, 6, 7, "five", new int[1]);
            case 6: return d6(seed, level);
            default: return d7(seed, level);
        }
    }

    private static long d0(long seed, int level) {
        return back(next(seed, level + 1), level);
    }

    private static long d1(long seed, int level, int a, int b, int c, int d, int e, int f, int g, int h) {
        return back(next(seed, level + 1), level) + a + b + c + d + e + f + g + h;
    }

    private static long d2(int level, long seed) {
        return back(next(seed, level + 1), level) ^ seed;
    }

    private static long d3(int level, double a, double b, double c, double d, double e, double f, double g, double h,
            double i, long seed) {
        return back(next(seed, level + 1), level) + (long) (a + b + c + d + e + f + g + h + i);
    }

    private static long d4(long seed, int level, String text) {
        return back(next(seed, level + 1), level) + text.length();
    }

    private static long d5(long seed, int level, int a, int b, int c, int d, int e, int f, long g, String text,
            int[] out) {
        out[0] = level;
        return back(next(seed, level + 1), out[0]) + a + b + c + d + e + f + g + text.length();
    }

    private static long d6(long seed, int level) {
        try {
            return back(next(seed, level + 1), level);
        } finally {
            Program.sink++;
        }
    }

    private static long d7(long seed, int level) {
        return back(next(seed, level + 1), level) * 31;
    }

    private static void root0() {
        Program.sink = next(seeds[0], 0);
    }

    private static void root1() {
        Program.sink = next(seeds[1], 0);
    }

    private static void root2() {
        Program.sink = next(seeds[2], 0);
    }

    private static void root3() {
        Program.sink = next(seeds[3], 0);
    }

    private static void run(int i) {
        while (!Program.stopping) {
            switch (i % 4) {
                case 0: root0(); break;
                case 1: root1(); break;
                case 2: root2(); break;
                default: root3();
            }
        }
    }

    private static void storm() {
        for (int i = 0; !Program.stopping; i++) {
            for (int k = 0; k < 1000; k++) {
                old[(i * 31 + k * 17) & 4095] = new byte[100 + (k & 7) * 100];
            }
            if (i % 64 == 0) {
                Program.sleep(1);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        depth = Integer.parseInt(args[0]);
        int threads = Integer.parseInt(args[1]);
        locks = !args[3].equals("0");
        seeds = new long[4];
        for (int i = 0; i < seeds.length; i++) {
            seeds[i] = Long.parseLong(args[4 + i]);
        }
        for (int i = 0; i < threads; i++) {
            int me = i;
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class)
                    .invoke(builder, (Runnable) () -> run(me));
        }
        if (!args[2].equals("0")) {
            Program.thread("storm", Frozen::storm);
        }
        Program.serve();
    }
}
