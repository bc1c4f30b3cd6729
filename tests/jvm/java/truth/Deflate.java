package truth;

import java.util.Random;
import java.util.zip.Deflater;

/** A thread inside zlib, called through JNI. Counter `cpu`: CPU ns of the thread. */
public final class Deflate {
    public static void main(String[] args) throws Exception {
        Program.thread("deflate", Deflate::loop);
        Program.serve();
    }

    private static void loop() {
        byte[] data = new byte[1 << 20], out = new byte[1 << 20];
        Random random = new Random(3);
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (random.nextInt(16) * (i & 3));
        }
        while (!Program.stopping) {
            compress(data, out);
            Program.set("cpu", Program.cpu());
        }
    }

    private static void compress(byte[] data, byte[] out) {
        Deflater deflater = new Deflater(6);
        deflater.setInput(data);
        deflater.finish();
        while (!deflater.finished()) {
            deflater.deflate(out);
        }
        deflater.end();
    }
}
