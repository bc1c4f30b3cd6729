package truth;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

/** Mapped (24 MB) and direct (8 MB) buffers, made on "begin", which stay; the argument is the file. */
public final class MappedBuffers {
    private static final int MB = 1 << 20;
    private static final List<ByteBuffer> KEPT = new ArrayList<>();

    private MappedBuffers() {
    }

    private static void map(String path, int first, int end) {
        try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
            file.setLength(32L * MB);
            for (int i = first; i < end; i++) {
                KEPT.add(file.getChannel().map(FileChannel.MapMode.READ_WRITE, (long) i * 8 * MB, 8 * MB));
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void direct() {
        for (int i = 0; i < 8; i++) {
            KEPT.add(ByteBuffer.allocateDirect(MB));
        }
    }

    public static void main(String[] args) throws Exception {
        map(args[0], 3, 4); // its library is loaded
        Program.thread("mapper", () -> {
            while (!Program.begun) {
                Program.sleep(1);
            }
            map(args[0], 0, 3);
            direct();
            Program.set("done", 1);
        });
        Program.serve();
    }
}
