package truth;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Four places that keep objects, one of which leaks: `leaks` keeps all it makes, `fills` a cache at the beginning and
 * no more, `renews` the last few, `garbage` none. From "begin" on, some 1,000 rounds a second. `leaked` is the bytes
 * that have leaked.
 */
public final class Leaks {
    private static final int SIZE = 1024, HEADER = 16;
    private static final List<byte[]> LEAKED = new ArrayList<>(1 << 20), CACHE = new ArrayList<>();
    private static final ArrayDeque<byte[]> NEWEST = new ArrayDeque<>();
    private static volatile byte[] last;

    private static byte[] leaks() {
        return new byte[SIZE - HEADER];
    }

    private static byte[] fills() {
        return new byte[SIZE - HEADER];
    }

    private static byte[] renews() {
        return new byte[SIZE - HEADER];
    }

    private static void garbage() {
        for (int i = 0; i < 100; i++) {
            last = new byte[SIZE - HEADER];
        }
    }

    private static void run() {
        while (!Program.begun) {
            Program.sleep(1);
        }
        while (!Program.stopping) {
            if (!Program.ending) {
                LEAKED.add(leaks());
                Program.count("leaked", SIZE);
            }
            if (CACHE.size() < 1000) {
                CACHE.add(fills());
            }
            NEWEST.add(renews());
            if (NEWEST.size() > 1000) {
                NEWEST.remove();
            }
            garbage();
            Program.sleep(1);
        }
        Program.sink = LEAKED.size() + CACHE.size() + NEWEST.size();
    }

    public static void main(String[] args) throws Exception {
        Program.thread("keeper", Leaks::run);
        Program.serve();
    }
}
