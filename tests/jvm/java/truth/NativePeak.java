package truth;

import java.lang.invoke.MethodHandle;

/**
 * Native memory that comes and goes, from "begin" on: `low` asks for 2,000 blocks and keeps them, `high` for 20,000,
 * which are freed after 1.5 s, and `later` for 4,000 once they are. `step` is 1 when `high` is there, 2 at the end.
 */
public final class NativePeak {
    private static final int SIZE = 1024;
    private static final NativeBlocks.Unsafe UNSAFE = new NativeBlocks.Unsafe();
    private static final MethodHandle ALLOCATE = UNSAFE.allocate;

    private static void low() throws Throwable {
        for (int i = 0; i < 2_000; i++) {
            Program.sink += (long) ALLOCATE.invokeExact((long) SIZE);
        }
    }

    private static long[] high() throws Throwable {
        long[] blocks = new long[20_000];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = (long) ALLOCATE.invokeExact((long) SIZE);
            if (i % 100 == 0) {
                Program.sleep(1); // queues are emptied meanwhile
            }
        }
        return blocks;
    }

    private static void later() throws Throwable {
        for (int i = 0; i < 4_000; i++) {
            Program.sink += (long) ALLOCATE.invokeExact((long) SIZE);
        }
    }

    private static void run() {
        while (!Program.begun) {
            Program.sleep(1);
        }
        try {
            low();
            long[] blocks = high();
            Program.count("step", 1);
            Program.sleep(1500);
            for (long block : blocks) {
                UNSAFE.freeMemory(block);
            }
            later();
            Program.count("step", 1);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Program.thread("keeper", NativePeak::run);
        Program.serve();
    }
}
