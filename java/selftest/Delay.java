package selftest;

import java.io.IOException;
import java.io.RandomAccessFile;

/**
 * How long the calling thread has been ready to run without a CPU, by the scheduler's own count. In that time it is in
 * whatever it waited for by its own clock; a profiler may know better.
 */
final class Delay {
    private final byte[] text = new byte[80];
    private RandomAccessFile file;

    /** To be used by the thread that makes it. */
    Delay() {
        try {
            file = new RandomAccessFile("/proc/thread-self/schedstat", "r");
        } catch (IOException e) {
            file = null; // an old kernel, or one that does not count it
        }
    }

    /** ns so far; 0 where it is not counted. */
    long now() {
        if (file == null) {
            return 0;
        }
        try {
            file.seek(0);
            int length = file.read(text);
            int at = 0;
            while (at < length && text[at] != ' ') {
                at++;
            }
            long value = 0;
            for (at++; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
                value = value * 10 + text[at] - '0';
            }
            return value;
        } catch (IOException e) {
            return 0;
        }
    }

    void close() throws IOException {
        if (file != null) {
            file.close();
        }
    }
}
