package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jstrobe.Natives;

/**
 * What instrumented methods call. It lives in java.lang because every class loader finds it there.
 *
 * The call tree lies in native memory, see src/instrument/tree.h for its layout: all places are counted
 * from BASE, and memory of zeros leads back to BASE, where nothing can go wrong. So a call that comes too
 * late, from a thread that was inside an instrumented method when tracing ended, does no harm.
 *
 * These methods call nothing that has byte code, or they would call themselves.
 */
public final class JstrobeProbe {
    /** The agent puts the address in its place, here and wherever the compiler added to it, before it defines the class. */
    private static final long BASE = 0x4a73_7472_6f62_6531L;

    private static final Unsafe U = Unsafe.getUnsafe();
    /** Where a thread's id is. */
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    private static final long TICK = 4096;
    private static final long SLOTS = 8192;
    private static final long SLOT_MASK = (1 << 20) - 1;
    /* a context */
    private static final int KEY = 0;
    private static final int CURRENT = 8;
    private static final int SEEN = 16;
    private static final int LAST = 24;
    /* a node */
    private static final int CONTEXT = 0;
    private static final int KIDS = 8;
    private static final int MASK = 16;
    private static final int COUNT = 24;
    private static final int ID = 32;
    private static final int WALL = 40;
    private static final int ENTERED = 48;

    private JstrobeProbe() {
    }

    /** The address of the current thread's context. */
    @ForceInline
    private static long here() {
        Thread t = Thread.currentThread();
        long tid = U.getLong(t, TID);
        long context = BASE + U.getLong(null, BASE + SLOTS + ((tid & SLOT_MASK) << 3));
        if (U.getLong(null, context + KEY) != tid + 1)
            context = BASE + Natives.context(t, tid);
        return context;
    }

    @ForceInline
    private static long down(long parent, int id) {
        long p = BASE + parent;
        long child = U.getLong(null, BASE + U.getLong(null, p + KIDS) + ((id & U.getLong(null, p + MASK)) << 3));
        if (U.getInt(null, BASE + child + ID) != id)
            child = Natives.child(parent, id);
        return child;
    }

    /** Method ID begins; the node to return to. */
    @ForceInline
    public static long enter(int id) {
        long context = here();
        long parent = U.getLong(null, context + CURRENT);
        long child = down(parent, id);
        long count = BASE + child + COUNT;
        U.putLong(null, count, U.getLong(null, count) + 1);
        if (U.getIntVolatile(null, BASE + TICK) != U.getInt(null, context + SEEN))
            Natives.stamp(parent);
        U.putLong(null, context + CURRENT, child);
        return parent;
    }

    /** A method ends, by return or exception, that was entered from PARENT. */
    @ForceInline
    public static void leave(long parent) {
        long context = BASE + U.getLong(null, BASE + parent + CONTEXT);
        if (U.getIntVolatile(null, BASE + TICK) != U.getInt(null, context + SEEN)) {
            Natives.leave(parent);
            return;
        }
        U.putLong(null, context + CURRENT, parent);
    }

    /** Method ID, entered from PARENT, has caught an exception: it is on top again, whoever missed an exit. */
    public static void again(long parent, int id) {
        long context = U.getLong(null, BASE + parent + CONTEXT);
        if (context != 0)
            U.putLong(null, BASE + context + CURRENT, down(parent, id));
    }

    /** As enter, with a stamp each time. */
    @ForceInline
    public static long enterExact(int id) {
        long context = here();
        long parent = U.getLong(null, context + CURRENT);
        long child = down(parent, id);
        long count = BASE + child + COUNT;
        long now;
        U.putLong(null, count, U.getLong(null, count) + 1);
        if (U.getIntVolatile(null, BASE + TICK) != U.getInt(null, context + SEEN)) {
            now = Natives.stamp(parent);
        } else {
            long wall = BASE + parent + WALL;
            now = System.nanoTime();
            U.putLong(null, wall, U.getLong(null, wall) + (now - U.getLong(null, context + LAST)));
            U.putLong(null, context + LAST, now);
        }
        U.putLong(null, BASE + child + ENTERED, now);
        U.putLong(null, context + CURRENT, child);
        return parent;
    }

    /** As leave, with a stamp each time. */
    @ForceInline
    public static void leaveExact(long parent) {
        long context = BASE + U.getLong(null, BASE + parent + CONTEXT);
        if (U.getIntVolatile(null, BASE + TICK) != U.getInt(null, context + SEEN)) {
            Natives.leave(parent);
            return;
        }
        long wall = BASE + U.getLong(null, context + CURRENT) + WALL;
        long now = System.nanoTime();
        U.putLong(null, wall, U.getLong(null, wall) + (now - U.getLong(null, context + LAST)));
        U.putLong(null, context + LAST, now);
        U.putLong(null, context + CURRENT, parent);
    }

    /** Enter and leave method ID a COUNT of times, for the agent to know what that costs here. */
    static void calibrate(int id, int count) {
        for (int i = 0; i < count; i++)
            leave(enter(id));
    }

    static void calibrateExact(int id, int count) {
        for (int i = 0; i < count; i++)
            leaveExact(enterExact(id));
    }
}
