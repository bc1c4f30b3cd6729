package jstrobe;

/**
 * What methods of java.util.concurrent.locks.LockSupport and java.lang.VirtualThread call while `-e lock` is in force,
 * in C (src/agent/waits_probe.c). Outside java.base, as jstrobe.Natives.
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

    /** The same for a virtual thread that sleeps. */
    public static native long beginSleep(int id);

    public static native void endSleep(long began);

    /**
     * Binds the native method NAME(long) of class TO to FUNCTION. From here, because the JVM warns of those who bind
     * natives of the JDK and whose caller is not of the boot loader (src/agent/waits_sleep.c).
     */
    public static int bind(Class<?> to, String name, long function) {
        return bindNow(to, name, function);
    }

    private static native int bindNow(Class<?> to, String name, long function);

    /** An exception was caught within the method: nothing to do. */
    public static void again(long began, int id) {
    }
}
