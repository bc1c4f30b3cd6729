package truth;

/** Clone and arraycopy loops; allocation keeps the garbage collector busy. Counter `cpu`. */
public final class CloneCopy {
    private static volatile Object kept;

    public static void main(String[] args) throws Exception {
        Program.thread("clone-copy", CloneCopy::storm);
        Program.serve();
    }

    private static void storm() {
        byte[] small = new byte[2000];
        long[] large = new long[100_000];
        Object[] objects = new Object[5000];
        while (!Program.stopping) {
            for (int i = 0; i < 200; i++) {
                kept = small.clone();
            }
            for (int i = 0; i < 10; i++) {
                kept = large.clone();
                System.arraycopy(large, 0, large, 10, large.length - 10);
                kept = objects.clone();
                System.arraycopy(objects, 0, objects, 1, objects.length - 1);
            }
            Program.set("cpu", Program.cpu());
        }
    }
}
