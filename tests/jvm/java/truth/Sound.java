package truth;

import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** Programs without a trouble, named by the argument: nothing stands out in what they do. */
public final class Sound {
    private Sound() {
    }

    private static long mix(long x) {
        x ^= x << 13;
        x ^= x >>> 7;
        return x ^ x << 17;
    }

    // ---- eight methods that cost about the same ----

    private static long sums(int n) {
        long a = 1;
        for (int i = 0; i < n; i++) {
            a = mix(a + i);
        }
        return a;
    }

    private static long primes(int n) {
        long found = 0;
        for (int i = 3; found < n / 60; i += 2) {
            int d = 3;
            while (d * d <= i && i % d != 0) {
                d += 2;
            }
            found += d * d > i ? 1 : 0;
        }
        return found;
    }

    private static long bits(int n) {
        long a = 0;
        for (int i = 0; i < n; i++) {
            a += Long.bitCount(mix(i) ^ a);
        }
        return a;
    }

    private static long collatz(int n) {
        long steps = 0;
        for (int i = 2; steps < n; i++) {
            for (long x = i; x != 1 && steps < n; steps++) {
                x = (x & 1) == 0 ? x / 2 : 3 * x + 1;
            }
        }
        return steps;
    }

    private static long digits(int n) {
        long a = 0;
        for (int i = 0; i < n / 6; i++) {
            for (long x = mix(i + 7) & 0xffffff; x > 0; x /= 10) {
                a += x % 10;
            }
        }
        return a;
    }

    private static long waves(int n) {
        double a = 0.1;
        for (int i = 0; i < n; i++) {
            a = 3.9 * a * (1 - a);
        }
        return (long) (a * 1000);
    }

    private static final ThreadLocal<long[]> CELLS = ThreadLocal.withInitial(() -> new long[64]);

    private static long cells(int n) {
        long[] cells = CELLS.get(); // it allocates nothing
        for (int i = 0; i < n; i++) {
            cells[(int) mix(i) & 63] += i;
        }
        return cells[5];
    }

    private static long words(int n) {
        long a = 5381;
        for (int i = 0; i < n; i++) {
            a = a * 33 ^ i;
            a ^= a >>> 11;
        }
        return a;
    }

    static long all(int n) {
        return sums(n) + primes(n) + bits(n) + collatz(n) + digits(n) + waves(n) + cells(n) + words(n);
    }

    // ---- programs ----

    private static void spread() {
        while (!Program.stopping) {
            Program.sink += all(4000);
        }
    }

    /** Works for a while, then waits for the next request: half of a CPU. */
    private static void requests() {
        while (!Program.stopping) {
            long end = System.nanoTime() + 4_000_000;
            while (System.nanoTime() < end) {
                Program.sink += all(400);
            }
            LockSupport.parkNanos(4_000_000);
        }
    }

    private static final Map<Long, Long> SHARED = new HashMap<>();

    /** A lock that is held for moments, so that no thread waits. */
    private static void locked() {
        while (!Program.stopping) {
            long value = all(2000);
            synchronized (SHARED) {
                SHARED.merge(value & 63, 1L, Long::sum);
            }
        }
    }

    private static int[] a(int n) {
        return new int[n];
    }

    private static long[] b(int n) {
        return new long[n / 2];
    }

    private static char[] c(int n) {
        return new char[n * 2];
    }

    private static byte[] d(int n) {
        return new byte[n * 4];
    }

    private static double[] e(int n) {
        return new double[n / 2];
    }

    private static short[] f(int n) {
        return new short[n * 2];
    }

    private static volatile Object kept; // so that they are made at all

    private static void garbage() {
        while (!Program.stopping) {
            kept = a(100);
            kept = b(100);
            kept = c(100);
            kept = d(100);
            kept = e(100);
            kept = f(100);
            Program.sink += all(400);
        }
    }

    /** A cache that has its size. */
    private static void cache() {
        Map<Integer, byte[]> cache = new LinkedHashMap<>();
        ArrayDeque<Integer> keys = new ArrayDeque<>();
        for (int i = 0; !Program.stopping; i++) {
            cache.put(i, new byte[2000]);
            keys.add(i);
            if (keys.size() > 1000) {
                cache.remove(keys.remove());
            }
            Program.sink += all(400);
        }
    }

    private static void files() throws Exception {
        Path file = Files.createTempFile("sound", ".bin");
        Files.write(file, new byte[1 << 18]);
        try {
            while (!Program.stopping) {
                try (InputStream in = new BufferedInputStream(new FileInputStream(file.toFile()), 1 << 16)) {
                    while (in.read() >= 0 && !Program.stopping) {
                        if ((Program.sink++ & 7) == 0) {
                            Program.sink += all(400) & 0xfff8;
                        }
                    }
                }
            }
        } finally {
            Files.delete(file);
        }
    }

    private static Program.Body body(String name) {
        switch (name) {
            case "spread": return Sound::spread;
            case "requests": return Sound::requests;
            case "locked": return Sound::locked;
            case "garbage": return Sound::garbage;
            case "cache": return Sound::cache;
            case "files": return Sound::files;
            default: throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] args) throws Exception {
        Program.run("sound", body(args[0]));
    }
}
