package truth;

/**
 * Exceptions thrown through a deep stack: nearly all CPU time is inside the VM (filling in stack
 * traces, unwinding). Counter `cpu`: CPU ns of the thread, all of it below `storm`.
 */
public final class Exceptions {
    public static void main(String[] args) throws Exception {
        int depth = args.length > 0 ? Integer.parseInt(args[0]) : 200;
        Program.thread("exceptions", () -> storm(depth));
        Program.serve();
    }

    private static void storm(int depth) {
        while (!Program.stopping) {
            for (int i = 0; i < 100; i++) {
                try {
                    dive(depth);
                } catch (IllegalStateException e) {
                    Program.sink = e.getStackTrace().length;
                }
            }
            Program.set("cpu", Program.cpu());
        }
    }

    private static int dive(int left) {
        if (left == 0) {
            throw new IllegalStateException("bottom");
        }
        return dive(left - 1) + 1;
    }
}
