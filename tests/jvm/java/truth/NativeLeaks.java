package truth;

import java.lang.invoke.MethodHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** As Leaks, with blocks of native memory: `leaks` frees none, `fills` as little, but is done soon. */
public final class NativeLeaks {
    private static final int SIZE = 1024;
    private static final NativeBlocks.Unsafe UNSAFE = new NativeBlocks.Unsafe();
    private static final MethodHandle ALLOCATE = UNSAFE.allocate;
    private static final List<Long> LEAKED = new ArrayList<>(1 << 20), CACHE = new ArrayList<>();
    private static final ArrayDeque<Long> NEWEST = new ArrayDeque<>();

    private static long leaks() throws Throwable {
        return (long) ALLOCATE.invokeExact((long) SIZE);
    }

    private static long fills() throws Throwable {
        return (long) ALLOCATE.invokeExact((long) SIZE);
    }

    private static long renews() throws Throwable {
        return (long) ALLOCATE.invokeExact((long) SIZE);
    }

    private static void garbage() throws Throwable {
        for (int i = 0; i < 100; i++) {
            UNSAFE.freeMemory((long) ALLOCATE.invokeExact((long) SIZE));
        }
    }

    private static void run() {
        try {
            keep();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static void keep() throws Throwable {
        while (!Program.begun) {
            Program.sleep(1);
        }
        while (!Program.stopping) {
            LEAKED.add(leaks());
            Program.count("leaked", SIZE);
            if (CACHE.size() < 1000) {
                CACHE.add(fills());
            }
            NEWEST.add(renews());
            if (NEWEST.size() > 1000) {
                UNSAFE.freeMemory(NEWEST.remove());
            }
            garbage();
            Program.sleep(1);
        }
        Program.sink = LEAKED.size() + CACHE.size() + NEWEST.size();
    }

    public static void main(String[] args) throws Exception {
        Program.thread("keeper", NativeLeaks::run);
        Program.serve();
    }
}
