package truth;

/** One thread computes, another one asks for collections of a heap of many objects, one after the other. */
public final class Collected {
    private static volatile Object kept;

    private static void computes() {
        while (!Program.stopping) {
            Program.sink = Program.work(1_000);
        }
    }

    private static void collects() {
        while (!Program.stopping) {
            System.gc();
            Program.sleep(20);
        }
    }

    public static void main(String[] args) throws Exception {
        Object[] many = new Object[2_000_000];
        for (int i = 0; i < many.length; i++) {
            many[i] = new int[4];
        }
        kept = many;
        Program.thread("computes", Collected::computes);
        Program.thread("collects", Collected::collects);
        Program.serve();
    }
}
