package truth;

import java.lang.reflect.Field;
import java.lang.reflect.Method;

/** A thread that maps fresh memory, touches each page of it and gives it back. */
public final class PageFaults {
    private static final long BLOCK = 32L << 20;

    public static void main(String[] args) throws Exception {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field field = type.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object unsafe = field.get(null);
        Method allocate = type.getMethod("allocateMemory", long.class);
        Method fill = type.getMethod("setMemory", long.class, long.class, byte.class);
        Method free = type.getMethod("freeMemory", long.class);
        Program.thread("page-faults", () -> {
            try {
                while (!Program.stopping) {
                    Object block = allocate.invoke(unsafe, BLOCK);
                    fill.invoke(unsafe, block, BLOCK, (byte) 1);
                    free.invoke(unsafe, block);
                    Program.count("blocks", 1);
                }
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        });
        Program.serve();
    }
}
