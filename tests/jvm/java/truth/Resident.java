package truth;

import java.io.File;
import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Memory of known amounts, all of it touched, in MB: heap, direct buffers, malloc in blocks of 1 MB, malloc in blocks of
 * 4 KB of which every second run of 64 is freed again, a mapped file; then how many threads hold a deep stack. At "begin"
 * it has 64 MB more of direct buffers.
 */
public final class Resident {
    private static final List<Object> KEPT = new ArrayList<>();
    private static final int MB = 1 << 20;

    public static void main(String[] args) throws Exception {
        int[] n = new int[args.length];
        for (int i = 0; i < n.length; i++) {
            n[i] = Integer.parseInt(args[i]);
        }
        heap(n[0]);
        direct(n[1]);
        large(n[2]);
        small(n[3]);
        file(n[4]);
        for (int i = 0; i < n[5]; i++) {
            Program.thread("deep-" + i, () -> Program.sink = deep(4000));
        }
        Program.thread("grower", () -> {
            while (!Program.begun) {
                Program.sleep(10);
            }
            direct(64);
            Program.set("grown", 1);
        });
        Program.sleep(1000);
        Program.serve();
    }

    private static void heap(int mb) {
        for (int i = 0; i < mb; i++) {
            byte[] piece = new byte[MB - 64];
            for (int at = 0; at < piece.length; at += 4096) {
                piece[at] = 1;
            }
            KEPT.add(piece);
        }
    }

    private static void touch(ByteBuffer buffer) {
        for (int at = 0; at < buffer.capacity(); at += 4096) {
            buffer.put(at, (byte) 1);
        }
        KEPT.add(buffer);
    }

    private static void direct(int mb) {
        for (int left = mb; left > 0; left -= 32) {
            touch(ByteBuffer.allocateDirect(Math.min(left, 32) * MB));
        }
    }

    /** sun.misc.Unsafe, which --release 8 does not know. */
    private static final class Malloc {
        private final Object unsafe;
        private final Method allocate, fill, free;

        Malloc() throws Exception {
            Class<?> type = Class.forName("sun.misc.Unsafe");
            Field field = type.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            unsafe = field.get(null);
            allocate = type.getMethod("allocateMemory", long.class);
            fill = type.getMethod("setMemory", long.class, long.class, byte.class);
            free = type.getMethod("freeMemory", long.class);
        }

        long get(long bytes) throws Exception {
            long at = (Long) allocate.invoke(unsafe, bytes);
            fill.invoke(unsafe, at, bytes, (byte) 1);
            return at;
        }

        void free(long at) throws Exception {
            free.invoke(unsafe, at);
        }
    }

    private static void large(int mb) throws Exception {
        Malloc malloc = new Malloc();
        for (int i = 0; i < mb; i++) {
            malloc.get(MB);
        }
    }

    private static void small(int mb) throws Exception {
        Malloc malloc = new Malloc();
        int count = mb * 256;
        long[] blocks = new long[count];
        for (int i = 0; i < count; i++) {
            blocks[i] = malloc.get(4096 - 16);
        }
        for (int i = 0; i < count; i++) {
            if (i / 64 % 2 == 1) {
                malloc.free(blocks[i]);
            }
        }
    }

    private static void file(int mb) throws Exception {
        File file = File.createTempFile("resident", ".data");
        file.deleteOnExit();
        try (RandomAccessFile data = new RandomAccessFile(file, "rw")) {
            data.setLength((long) mb * MB);
            MappedByteBuffer map = data.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, (long) mb * MB);
            touch(map);
        }
    }

    private static int deep(int levels) {
        if (levels > 0) {
            return deep(levels - 1) + 1;
        }
        while (!Program.stopping) {
            Program.sleep(1000);
        }
        return 0;
    }
}
