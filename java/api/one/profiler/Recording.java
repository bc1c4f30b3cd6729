package one.profiler;

/** Whether spans are recorded, and by which clock. */
public class Recording {
    public static final int UNAVAILABLE = 0;
    public static final int STOPPED = 1;
    public static final int RUNNING = 2;

    private static final long PATIENCE = 100_000_000L; // ns, until the library is looked for again
    private static volatile long missed;

    private Recording() {
    }

    private static boolean isMissing() {
        if (missed == 0) {
            return false;
        }
        if (System.nanoTime() - missed < PATIENCE) {
            return true;
        }
        missed = 0;
        return false;
    }

    /* Not loaded yet, or by another class loader. */
    private static void miss() {
        missed = System.nanoTime() | 1;
    }

    /** RUNNING while a recording is made; UNAVAILABLE without the library. */
    public static int state() {
        if (isMissing()) {
            return UNAVAILABLE;
        }
        try {
            return state0();
        } catch (UnsatisfiedLinkError e) {
            miss();
            return UNAVAILABLE;
        }
    }

    /** Ticks a second of {@link #timestamp}. */
    public static long clockFrequency() {
        return 1_000_000_000L;
    }

    public static long timestamp() {
        return System.nanoTime();
    }

    /** The library was loaded just now. */
    static void look() {
        missed = 0;
    }

    static void emit(long from, long to, String tag) {
        if (isMissing()) {
            return;
        }
        try {
            emit0(from, to, tag);
        } catch (UnsatisfiedLinkError e) {
            miss();
        }
    }

    private static native int state0();

    private static native void emit0(long from, long to, String tag);
}
