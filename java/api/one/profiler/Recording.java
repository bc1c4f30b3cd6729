package one.profiler;

/**
 * Whether spans are recorded, and by which clock. jstrobe records none yet: the state is UNAVAILABLE, as it is in
 * async-profiler without its library.
 */
public class Recording {
    public static final int UNAVAILABLE = 0;
    public static final int STOPPED = 1;
    public static final int RUNNING = 2;

    private Recording() {
    }

    public static int state() {
        return UNAVAILABLE;
    }

    /** Ticks a second of {@link #timestamp}. */
    public static long clockFrequency() {
        return 1_000_000_000L;
    }

    public static long timestamp() {
        return System.nanoTime();
    }
}
