package truth;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * Threads (second argument: how many) that are in one system call for long, then compute for some ms (third), and note
 * the CPU time of each. The first argument says what they call: "memory", reads of so many MB (fourth) of a file that
 * lies in memory, which no signal ends; "zero", reads of /dev/zero, which each signal ends early.
 */
public final class LongCalls {
    private static long call(FileChannel file, ByteBuffer room) {
        try {
            room.clear();
            return file.read(room, 0);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void compute(long ns) {
        long end = Program.cpu() + ns;
        while (Program.cpu() < end) {
            Program.sink += Program.work(3000);
        }
    }

    private static void loop(FileChannel file, int bytes, long ns) {
        ByteBuffer room = ByteBuffer.allocateDirect(bytes);
        while (!Program.stopping) {
            long begin = Program.cpu();
            Program.sink += call(file, room);
            long middle = Program.cpu();
            compute(ns);
            Program.count("call", middle - begin);
            Program.count("compute", Program.cpu() - middle);
        }
    }

    public static void main(String[] args) throws Exception {
        int bytes = Integer.parseInt(args[3]) << 20;
        long ns = (long) (Double.parseDouble(args[2]) * 1_000_000);
        File path = args[0].equals("zero") ? new File("/dev/zero")
                                           : File.createTempFile("long", ".call", new File("/dev/shm"));
        try (RandomAccessFile file = new RandomAccessFile(path, args[0].equals("zero") ? "r" : "rw")) {
            if (!args[0].equals("zero")) {
                path.delete();
                ByteBuffer some = ByteBuffer.allocate(1 << 20);
                for (int i = 0; i < bytes; i += 1 << 20) {
                    some.clear();
                    file.getChannel().write(some, i);
                }
            }
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                Program.thread("caller-" + i, () -> loop(file.getChannel(), bytes, ns));
            }
            Program.serve();
        }
    }
}
