package jstrobe;

/**
 * What the methods of java.util.concurrent.locks.LockSupport call while `-e lock` is in force, in C
 * (src/agent/waits_park.c). Outside java.base, as jstrobe.Natives.
 */
public final class Waits {
    private Waits() {
    }

    /** A park begins, for LOCK; when, or 0 if nobody wants to know. */
    public static native long begin(Object lock, int id);

    /** The same where the method has no blocker among its arguments. */
    public static native long begin(int id);

    /** The park that began so is over. */
    public static native void end(long began);

    /** An exception was caught within the method: nothing to do. */
    public static void again(long began, int id) {
    }
}
