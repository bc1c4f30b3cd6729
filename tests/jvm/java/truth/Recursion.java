package truth;

/**
 * A thread that burns at the bottom of a recursion: `down` stands DEPTH times on each stack that
 * has `bottom`. Argument: DEPTH. Counter `rounds`: work done, `cpu`: CPU ns of the thread.
 */
public final class Recursion {
    public static void main(String[] args) throws Exception {
        int depth = Integer.parseInt(args[0]);
        Thread thread = new Thread(null, () -> loop(depth), "recursion", 64 << 20);
        thread.setDaemon(true);
        thread.start();
        Program.serve();
    }

    private static void loop(int depth) {
        while (!Program.stopping) {
            down(depth);
            Program.count("rounds", 1);
            Program.set("cpu", Program.cpu());
        }
    }

    private static int down(int left) {
        return left > 1 ? down(left - 1) + 1 : bottom();
    }

    private static int bottom() {
        for (int i = 0; i < 1000; i++) {
            Program.sink = Program.work(2_000);
        }
        return 0;
    }
}
