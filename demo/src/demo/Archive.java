package demo;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/** Journal of all orders, compressed in blocks: native code, called through JNI. */
final class Archive {
    private static final int BLOCK = 500;
    private final Object full = new Object();
    private List<String> journal = new ArrayList<>();
    private long bytes;

    void note(String text) {
        synchronized (full) {
            journal.add(text);
            if (journal.size() >= BLOCK) {
                full.notifyAll();
            }
        }
    }

    /** Wait for a block (a short while) and compress it. */
    void compress() {
        byte[] data = take();
        if (data.length == 0) {
            return;
        }
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
        byte[] out = new byte[data.length + 64];
        deflater.setInput(data);
        deflater.finish();
        while (!deflater.finished()) {
            bytes += deflater.deflate(out);
        }
        deflater.end();
    }

    private byte[] take() {
        List<String> block;
        synchronized (full) {
            if (journal.size() < BLOCK) {
                try {
                    full.wait(50);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            block = journal;
            journal = new ArrayList<>();
        }
        return String.join("\n", block).getBytes(StandardCharsets.UTF_8);
    }
}
