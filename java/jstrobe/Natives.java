package jstrobe;

/**
 * The slow ways of java.lang.JstrobeProbe, in C (src/agent/tracing/probe.c). In a class of its own, outside java.base: the
 * JVM complains on stdout about anybody who binds native methods of a JDK class.
 */
public final class Natives {
    private Natives() {
    }

    /** The context of thread T, made if need be; 0 if it has none. */
    public static native long context(Thread t, long tid);

    /** The context of the current thread, whose number is TID; 0 if it has none. */
    public static native long find(long tid);

    /** The child ID of node PARENT, made if need be. */
    public static native long child(long parent, int id);

    /** Charge the time since the last stamp to node TOP; what time it is. */
    public static native long stamp(long top);

    /** The end of a call that was entered as SAVED, with a stamp. */
    public static native void leave(long saved);

    /** A call of method ID took so long, until NOW, and that is slow. */
    public static native void slow(int id, long took, long now);
}
