package truth;

/**
 * A native thread that works a little and then blocks in read() on a pipe, over and over: signals
 * of a profiler must not make it see EINTR. Argument: library. Counters: `reads`, `eintr`.
 */
public final class Interrupted {
    /** Read 100 times from a pipe that a native thread fills; returns how many reads failed. */
    public static native int reads();

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Program.set("eintr", 0);
        Program.thread("reader", () -> {
            while (!Program.stopping) {
                Program.count("eintr", reads());
                Program.count("reads", 100);
            }
        });
        Program.serve();
    }
}
