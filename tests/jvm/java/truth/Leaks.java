package truth;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Four places that keep objects, one of which leaks: `leaks` keeps all it makes, `fills` a cache at the beginning and
 * no more, `renews` the last few, `garbage` none. From "begin" on, some 1,000 rounds a second; with arguments, so many
 * bytes a minute leak, so many are garbage each second, and as many are renewed as leak. `leaked` and `garbage` are the
 * bytes so far.
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

    private static void garbage(long objects) {
        for (long i = 0; i < objects; i++) {
            last = new byte[SIZE - HEADER];
        }
        Program.count("garbage", objects * SIZE);
    }

    private static void keepOne() {
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
    }

    private static void run(long perMinute, long perSecond) {
        while (!Program.begun) {
            Program.sleep(1);
        }
        long start = System.nanoTime(), kept = 0, made = 0;
        while (!Program.stopping) {
            double seconds = (System.nanoTime() - start) / 1e9;
            long keep = perMinute == 0 ? 1 : (long) (seconds / 60 * perMinute / SIZE) - kept;
            long make = perMinute == 0 ? 100 : (long) (seconds * perSecond / SIZE) - made;
            for (long i = 0; i < keep; i++) {
                keepOne();
            }
            garbage(make);
            kept += keep;
            made += make;
            Program.sleep(1);
        }
        Program.sink = LEAKED.size() + CACHE.size() + NEWEST.size();
    }

    public static void main(String[] args) throws Exception {
        long perMinute = args.length > 0 ? Long.parseLong(args[0]) : 0;
        long perSecond = args.length > 1 ? Long.parseLong(args[1]) : 0;
        Program.thread("keeper", () -> run(perMinute, perSecond));
        Program.serve();
    }
}
