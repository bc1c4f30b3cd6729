package truth;

/**
 * Many objects that stay, of so many bytes as the first argument says, the second's number of them; `kept` is how many
 * there are. Then garbage, as many bytes a second as the third says, of which the last 16 MB are still in use.
 */
public final class KeepMany {
    private static final int HEADER = 16, SIZE = 1024;
    private static final byte[][] RECENT = new byte[(16 << 20) / SIZE][];
    private static byte[][] kept;

    private KeepMany() {
    }

    private static void keep(int size, int count) {
        kept = new byte[count][];
        for (int i = 0; i < count; i++) {
            kept[i] = new byte[size - HEADER];
            if (i % 100 == 0) {
                Program.sleep(1); // queues are emptied meanwhile
            }
        }
        Program.set("kept", count);
    }

    private static void run(int size, int count, long perSecond) {
        while (!Program.begun) {
            Program.sleep(1);
        }
        keep(size, count);
        long start = System.nanoTime(), made = 0;
        while (!Program.stopping) {
            long wanted = (long) ((System.nanoTime() - start) / 1e9 * perSecond / SIZE);
            // a program that was stopped for a while does not make up for it
            made = Math.max(made, wanted - perSecond / SIZE / 10);
            for (; made < wanted; made++) {
                RECENT[(int) (made % RECENT.length)] = new byte[SIZE - HEADER];
            }
            Program.sleep(1);
        }
        Program.sink = kept.length;
    }

    public static void main(String[] args) throws Exception {
        Program.thread("keeper", () -> run(Integer.parseInt(args[0]), Integer.parseInt(args[1]), Long.parseLong(args[2])));
        Program.serve();
    }
}
