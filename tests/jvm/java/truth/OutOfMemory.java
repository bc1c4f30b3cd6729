package truth;

import java.util.ArrayList;
import java.util.List;

/** Works until "end" is said, then uses up the heap, forgets it all and works on. */
public final class OutOfMemory {
    private OutOfMemory() {
    }

    private static long fill() {
        List<byte[]> blocks = new ArrayList<>();

        try {
            for (;;) {
                blocks.add(new byte[1 << 20]);
            }
        } catch (OutOfMemoryError e) {
            return blocks.size();
        }
    }

    public static void main(String[] args) throws Exception {
        Program.thread("worker", () -> {
            boolean filled = false;

            while (!Program.stopping) {
                Program.sink = Program.work(1000);
                if (Program.ending && !filled) {
                    Program.count("blocks", fill());
                    filled = true;
                }
            }
        });
        Program.serve();
    }
}
