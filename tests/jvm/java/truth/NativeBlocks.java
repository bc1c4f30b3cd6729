package truth;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Native memory whose bytes the program knows: blocks of each size in the first argument ("64,65536"), as many as make up
 * the second one's bytes, when "begin" was said, by a thread for each size. In three methods in turn: `keep` keeps one
 * block in four, `churn` frees what it allocates, on the other threads as well, `grow` makes each twice as large and
 * frees every second one. Counters: bytes asked for by each as `keep_SIZE` …, and what is left as `left_keep_SIZE` …;
 * `direct`: bytes of direct buffers made by `buffers` and kept; `done` is 1 at the end. With a third argument threads
 * go on for ever with `churn`, from the start.
 */
public final class NativeBlocks {
    private static final Unsafe UNSAFE = new Unsafe();
    private static final int PACE = 1 << 20; // bytes, then 1 ms of rest: queues are emptied meanwhile
    private static final List<ByteBuffer> DIRECT = new ArrayList<>();
    private static final java.util.concurrent.atomic.AtomicLong CROSSED = new java.util.concurrent.atomic.AtomicLong();

    /* sun.misc.Unsafe, which the compiler does not know for an old release. */
    static final class Unsafe {
        final MethodHandle allocate;
        private final MethodHandle reallocate, free;

        Unsafe() {
            try {
                Class<?> type = Class.forName("sun.misc.Unsafe");
                Field field = type.getDeclaredField("theUnsafe");
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                field.setAccessible(true);
                Object unsafe = field.get(null);
                allocate = lookup.unreflect(type.getMethod("allocateMemory", long.class)).bindTo(unsafe);
                reallocate = lookup.unreflect(type.getMethod("reallocateMemory", long.class, long.class)).bindTo(unsafe);
                free = lookup.unreflect(type.getMethod("freeMemory", long.class)).bindTo(unsafe);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        long allocateMemory(long bytes) {
            try {
                return (long) allocate.invokeExact(bytes);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }

        long reallocateMemory(long block, long bytes) {
            try {
                return (long) reallocate.invokeExact(block, bytes);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }

        void freeMemory(long block) {
            try {
                free.invokeExact(block);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }
    }

    private static final class Pace {
        private long left = PACE;

        void rest(long bytes) {
            left -= Math.max(bytes, PACE / 8); // of small ones 8 a millisecond, where each is a sample
            if (left <= 0) {
                Program.sleep(1);
                left = PACE;
            }
        }
    }

    private static void keep(int size, long bytes, Pace pace) {
        long left = 0;
        int n = 0;
        for (long done = 0; done < bytes; done += size, n++) {
            long block = UNSAFE.allocateMemory(size);
            if (n % 4 == 0) {
                left += size;
            } else {
                UNSAFE.freeMemory(block);
            }
            pace.rest(size);
        }
        Program.set("keep_" + size, (long) n * size);
        Program.set("left_keep_" + size, left);
    }

    /* The block that another thread has put there last is freed by this one. */
    private static void churn(int size, long bytes, Pace pace) {
        int n = 0;
        for (long done = 0; done < bytes; done += size, n++) {
            long other = CROSSED.getAndSet(UNSAFE.allocateMemory(size));
            if (other != 0) {
                UNSAFE.freeMemory(other);
            }
            pace.rest(size);
        }
        Program.set("churn_" + size, (long) n * size);
    }

    private static void grow(int size, long bytes, Pace pace) {
        long left = 0, asked = 0;
        for (int n = 0; asked < bytes; n++) {
            long block = UNSAFE.reallocateMemory(UNSAFE.allocateMemory(size), 2L * size);
            asked += 3L * size;
            if (n % 2 == 0) {
                left += 2L * size;
            } else {
                UNSAFE.freeMemory(block);
            }
            pace.rest(3L * size);
        }
        Program.set("grow_" + size, asked);
        Program.set("left_grow_" + size, left);
    }

    private static void buffers() {
        long bytes = 0;
        for (int i = 0; i < 16; i++) {
            DIRECT.add(ByteBuffer.allocateDirect(1 << 20));
            bytes += 1 << 20;
        }
        Program.set("direct", bytes);
    }

    private static void run(int size, long bytes) {
        Pace pace = new Pace();
        while (!Program.begun) {
            Program.sleep(1);
        }
        keep(size, bytes, pace);
        churn(size, bytes, pace);
        grow(size, bytes, pace);
    }

    public static void main(String[] args) throws Exception {
        String[] sizes = args[0].split(",");
        long bytes = Long.parseLong(args[1]);
        boolean always = args.length > 2;
        List<Thread> threads = new ArrayList<>();
        for (String text : sizes) {
            int size = Integer.parseInt(text);
            threads.add(Program.thread("blocks-" + size, always ? () -> {
                while (true) {
                    churn(size, bytes, new Pace());
                }
            } : () -> run(size, bytes)));
        }
        Program.thread("waiter", () -> {
            for (Thread thread : threads) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            buffers();
            long last = CROSSED.getAndSet(0);
            if (last != 0) {
                UNSAFE.freeMemory(last);
            }
            Program.set("done", 1);
        });
        Program.serve();
    }
}
