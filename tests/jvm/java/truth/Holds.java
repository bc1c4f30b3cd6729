package truth;

import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;

/**
 * Places that keep all they make, each held in another way: by a static map, by a field of an object of a class with
 * interfaces that have fields, by a list linked from element to element, by a local variable of a thread, by a thread's
 * own value. Beside them weak and soft references refer to the same objects, which they do not hold. From "begin" on,
 * some 500 rounds a second; `rounds` counts them.
 */
public final class Holds {
    private static final int SIZE = 1024;
    private static final Map<Integer, byte[]> MAP = new HashMap<>();
    private static final LinkedList<long[]> LINKED = new LinkedList<>();
    private static final Keeper KEEPER = new Keeper();
    private static final ThreadLocal<List<short[]>> OWN = new ThreadLocal<>();
    static final List<WeakReference<Object>> WEAK = new ArrayList<>();
    static final List<SoftReference<Object>> SOFT = new ArrayList<>();

    interface First {
        int A = Integer.getInteger("a", 1), B = 2;
    }

    interface Second extends First {
        String C = "c" + A;
    }

    static class Base {
        int number;
        Object nothing;
    }

    static final class Keeper extends Base implements Second {
        final List<char[]> kept = new ArrayList<>();
    }

    static final class Named extends WeakReference<Object> implements Second {
        Named(Object o) {
            super(o);
        }
    }

    private static byte[] mapped() {
        return new byte[SIZE - 16];
    }

    private static long[] linked() {
        return new long[SIZE / 8 - 2];
    }

    private static char[] fielded() {
        return new char[SIZE / 2 - 8];
    }

    private static short[] own() {
        return new short[SIZE / 2 - 8];
    }

    private static int[] local() {
        return new int[SIZE / 4 - 4];
    }

    private static void refer(Object o, int i) {
        WEAK.add(i % 2 == 0 ? new WeakReference<>(o) : new Named(o));
        SOFT.add(new SoftReference<>(o));
    }

    private static void run() {
        while (!Program.begun) {
            Program.sleep(1);
        }
        List<int[]> mine = new ArrayList<>();
        OWN.set(new ArrayList<>());
        for (int i = 0; !Program.stopping; i++) {
            byte[] m = mapped();
            refer(m, i);
            MAP.put(i, m);
            long[] l = linked();
            refer(l, i);
            LINKED.add(l);
            char[] f = fielded();
            refer(f, i);
            KEEPER.kept.add(f);
            OWN.get().add(own());
            mine.add(local());
            Program.count("rounds", 1);
            Program.sleep(1);
        }
        Program.sink = mine.size() + OWN.get().size();
    }

    public static void main(String[] args) throws Exception {
        Program.thread("keeper", Holds::run);
        Program.serve();
    }
}
