package truth;

import java.util.HashMap;
import java.util.Map;

/** A heap under pressure: maps of arrays, replaced all the time by two threads, some of it kept. */
public final class Garbage {
    private Garbage() {
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2; i++) {
            int seed = i + 1;
            Program.thread("garbage-" + i, () -> fill(seed));
        }
        Program.serve();
    }

    private static void fill(int seed) {
        Map<Integer, byte[]> kept = new HashMap<>();
        long x = seed;
        while (!Program.stopping) {
            for (int i = 0; i < 1000; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
                kept.put((int) (x & 0x3fff), new byte[(int) (x >>> 50 & 0x7ff)]);
            }
            Program.count("objects", 1000);
        }
    }
}
