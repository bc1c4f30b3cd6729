package truth;

import java.util.concurrent.atomic.LongAdder;

/**
 * Loops around calls of leaf routines, where no thread stops, and a method that is inlined beside each loop but runs
 * once for thousands of turns: LongAdder.increment calls none of them. Counter `rounds`: of all loops.
 */
public final class LeafCalls {
    private static final LongAdder DONE = new LongAdder();
    private static final int TURNS = 4000;
    private static final byte[] FROM = new byte[4096];
    private static final byte[] TO = new byte[4096];
    private static long turns;
    private static double result;
    private static volatile int limit = TURNS;

    public static void main(String[] args) throws Exception {
        Program.thread("leaf-calls", LeafCalls::loop);
        Program.serve();
    }

    private static void loop() {
        while (!Program.stopping) {
            nanosUntil(300_000);
            nanosAfterwards(300_000);
            millisUntil(1);
            nanosCounted(TURNS);
            millisCounted(4 * TURNS);
            sinCounted(TURNS);
            sinWhile();
            powCounted(TURNS);
            powWhile();
            copyCounted(TURNS);
            copyWhile();
            Program.count("rounds", 1);
        }
    }

    /* None of these is to be inlined: the test says so to the JVM. */

    private static void nanosUntil(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            turns++;
        }
        DONE.increment();
    }

    private static void nanosAfterwards(long nanos) {
        DONE.increment();
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            turns++;
        }
    }

    private static void millisUntil(long millis) {
        long end = System.currentTimeMillis() + millis;
        while (System.currentTimeMillis() < end) {
            turns++;
        }
        DONE.increment();
    }

    private static void nanosCounted(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += System.nanoTime();
        }
        turns += sum;
        DONE.increment();
    }

    private static void millisCounted(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += System.currentTimeMillis();
        }
        turns += sum;
        DONE.increment();
    }

    private static void sinCounted(int n) {
        double d = 1;
        for (int i = 0; i < n; i++) {
            d += Math.sin(d + i * 1000);
        }
        result = d;
        DONE.increment();
    }

    private static void sinWhile() {
        double d = 1;
        int i = 0;
        while (i++ < limit) {
            d += Math.sin(d + i * 1000);
        }
        result = d;
        DONE.increment();
    }

    private static void powCounted(int n) {
        double d = 1;
        for (int i = 0; i < n; i++) {
            d += Math.pow(1.0 + i * 1e-9, d);
        }
        result = d;
        DONE.increment();
    }

    private static void powWhile() {
        double d = 1;
        int i = 0;
        while (i++ < limit) {
            d += Math.pow(1.0 + i * 1e-9, d);
        }
        result = d;
        DONE.increment();
    }

    private static void copyCounted(int n) {
        for (int i = 0; i < n; i++) {
            System.arraycopy(FROM, i & 15, TO, 0, 4000 + (i & 7));
        }
        DONE.increment();
    }

    private static void copyWhile() {
        int i = 0;
        while (i++ < limit) {
            System.arraycopy(FROM, i & 15, TO, 0, 4000 + (i & 7));
        }
        DONE.increment();
    }
}
