package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jstrobe.Natives;

/**
 * What instrumented methods call. It lives in java.lang because every class loader finds it there.
 *
 * The call tree lies in native memory, see src/agent/tracing/tree.h for its layout: all places are counted
 * from BASE, and memory of zeros leads back to BASE, where nothing can go wrong. So a call that comes too
 * late, from a thread that was inside an instrumented method when tracing ended, does no harm.
 *
 * An enter gives what the leave of the same call takes: the node to return to, with the bit TIMED if adaptive timing
 * takes the time of this call; 0 if the call does not count.
 *
 * These methods call nothing that has byte code, or they would call themselves.
 */
public final class JstrobeProbe {
    /** The agent puts the address in its place, here and wherever the compiler added to it, before it defines the class. */
    private static final long BASE = 0x4a73_7472_6f62_6531L;

    private static final Unsafe U = Unsafe.getUnsafe();
    /** Where a thread's id is. */
    private static final long TID = U.objectFieldOffset(Thread.class, "tid");

    /* the board */
    private static final long BOARD = 4096;
    private static final long QUOTA = BOARD + 4;
    private static final long LATENCY = BOARD + 16;
    private static final long CLOCK = BOARD + 24;
    private static final long RAREST = BOARD + 32;
    private static final long SLOTS = 8192;
    private static final long SLOT_MASK = (1 << 17) - 1;
    /* a context */
    private static final int KEY = 0;
    private static final int CURRENT = 8;
    private static final int TAKEN = 20;
    private static final int LAST = 24;
    private static final int TAKEN_ALL = 32;
    private static final int CHAIN = 40;
    /* a node */
    private static final int CONTEXT = 0;
    private static final int ELDER = 8;
    private static final int MASK = 16;
    private static final int COUNT = 24;
    private static final int ID = 32;
    private static final int CLOSED = 36;
    private static final int WALL = 40;
    private static final int ENTERED = 48;
    private static final int PARENT = 56;
    private static final int STATS = 64;
    private static final int SINCE = 72;
    private static final int DUE = 80;
    private static final int EVERY = 88;
    private static final int HOT = 92;
    private static final int KIDS = 104;
    /* statistics */
    private static final int MIN = 8;
    private static final int MAX = 16;
    private static final int BUCKETS = 24;
    private static final long SHORTEST = 1L << 4;
    private static final long LONGEST = 1L << 36;
    /** A double's exponent and two bits of its mantissa number the quarter octaves; those of SHORTEST. */
    private static final long FIRST_BUCKET = 1023 + 4 << 2;

    /** In a context's key: a tick has come since the last stamp. */
    private static final long DUE_NOW = Long.MIN_VALUE;
    private static final long TIMED = 1;
    private static final int GATE_SHIFT = 28;
    private static final int GATE_DEEP = 2;
    private static final int GATE_WAIT = 4;
    private static final int NUMBER = (1 << GATE_SHIFT) - 1;
    private static final int SLEEPING = GATE_WAIT << GATE_SHIFT | 0x0fffffe0;

    private JstrobeProbe() {
    }

    /** The current thread's context; if a tick is due, it has been charged to the current node. */
    @ForceInline
    private static long here() {
        Thread t = Thread.currentThread();
        long tid = U.getLong(t, TID);
        long context = U.getLong(null, BASE + SLOTS + ((tid & SLOT_MASK) << 3));
        /* volatile: or the compiler would look but once, before a loop of calls */
        if (U.getLongVolatile(null, BASE + context + KEY) != tid + 1)
            context = look(context, t, tid);
        return context;
    }

    private static long look(long first, Thread t, long tid) {
        long context = search(first, tid);
        if (context == 0)
            return Natives.context(t, tid);
        if (U.getLong(null, BASE + context + KEY) != tid + 1)
            Natives.stamp(U.getLong(null, BASE + context + CURRENT));
        return context;
    }

    /** The context of thread TID, of those chained from FIRST on; 0 if it is not seen among them. */
    private static long search(long first, long tid) {
        long context = first;
        /* others come into the chain and leave it meanwhile; but a key is its owner's alone */
        for (int i = 0; i < 16 && context != 0; i++) {
            if ((U.getLongVolatile(null, BASE + context + KEY) & ~DUE_NOW) == tid + 1)
                return context;
            context = U.getLong(null, BASE + context + CHAIN);
        }
        return 0;
    }

    /** Whether all is as usual in the context of a leave: it still has an owner, and no tick is due. */
    @ForceInline
    private static boolean quiet(long context) {
        return U.getLongVolatile(null, BASE + context + KEY) > 0;
    }

    @ForceInline
    private static long down(long parent, int id) {
        long p = BASE + parent;
        long elder = U.getLong(null, p + ELDER);
        if (U.getInt(null, BASE + elder + ID) == id)
            return elder;
        long kids = U.getLong(null, p + KIDS);
        /* memory may go back at any moment: a mask from before would lead out of the blind's table */
        if (kids == 0)
            return Natives.child(parent, id);
        long child = U.getLong(null, BASE + kids + ((id & U.getLong(null, p + MASK)) << 3));
        if (U.getInt(null, BASE + child + ID) != id)
            child = Natives.child(parent, id);
        return child;
    }

    @ForceInline
    private static long add(long place, long more) {
        long value = U.getLong(null, place) + more;
        U.putLong(null, place, value);
        return value;
    }

    /** Whether the current thread is where calls with the gates of NUMBER do not count; it gets no context for that. */
    @ForceInline
    private static boolean closed(int number) {
        int gates = number >>> GATE_SHIFT;
        long tid = U.getLong(Thread.currentThread(), TID);
        long context = U.getLong(null, BASE + SLOTS + ((tid & SLOT_MASK) << 3));
        if (context != 0 && U.getLongVolatile(null, BASE + context + KEY) != tid + 1)
            context = own(context, tid);
        /* who has not called anything that counts is in no root, and does not wait in it */
        if (context == 0)
            return (gates & ~GATE_DEEP) != 0;
        return (U.getInt(null, BASE + U.getLong(null, BASE + context + CURRENT) + CLOSED) & gates) != 0;
    }

    private static long own(long first, long tid) {
        long context = search(first, tid);
        return context != 0 ? context : Natives.find(tid);
    }

    /* ---- sampled timing ---- */

    /** Method ID begins; what leave takes. */
    @ForceInline
    public static long enter(int id) {
        long context = here();
        long parent = U.getLong(null, BASE + context + CURRENT);
        long child = down(parent, id);
        add(BASE + child + COUNT, 1);
        U.putLong(null, BASE + context + CURRENT, child);
        return parent;
    }

    /** The same where it depends on where the thread is whether the call counts; NUMBER: gates and id. */
    public static long enterIf(int number) {
        return closed(number) ? 0 : enter(number & NUMBER);
    }

    /** A method ends, by return or exception. */
    @ForceInline
    public static void leave(long parent) {
        long context = U.getLong(null, BASE + parent + CONTEXT);
        if (quiet(context))
            U.putLong(null, BASE + context + CURRENT, parent);
        else
            Natives.leave(parent);
    }

    /** What follows an enterIf. */
    public static void leaveIf(long parent) {
        if (parent != 0)
            leave(parent);
    }

    /** Method NUMBER has caught an exception: it is on top again, whichever calls missed an exit. */
    public static void again(long saved, int number) {
        long parent = saved & ~TIMED;
        long context = U.getLong(null, BASE + parent + CONTEXT);
        if (context != 0)
            U.putLong(null, BASE + context + CURRENT, down(parent, number & NUMBER));
    }

    /* ---- exact timing: a stamp each time ---- */

    @ForceInline
    public static long enterExact(int id) {
        long context = BASE + here();
        long parent = U.getLong(null, context + CURRENT);
        long child = down(parent, id);
        add(BASE + child + COUNT, 1);
        long now = System.nanoTime();
        add(BASE + parent + WALL, now - U.getLong(null, context + LAST));
        U.putLong(null, context + LAST, now);
        U.putLong(null, BASE + child + ENTERED, now);
        U.putLong(null, context + CURRENT, child);
        return parent;
    }

    public static long enterExactIf(int number) {
        return closed(number) ? 0 : enterExact(number & NUMBER);
    }

    @ForceInline
    public static void leaveExact(long parent) {
        long context = U.getLong(null, BASE + parent + CONTEXT);
        long node = BASE + U.getLong(null, BASE + context + CURRENT);
        if (!quiet(context) || U.getLong(null, node + PARENT) != parent) {
            Natives.leave(parent);
            return;
        }
        context += BASE;
        long now = System.nanoTime();
        long took = now - U.getLong(null, node + ENTERED);
        add(node + WALL, now - U.getLong(null, context + LAST));
        U.putLong(null, context + LAST, now);
        U.putLong(null, context + CURRENT, parent);
        long stats = U.getLong(null, node + STATS);
        if (stats != 0)
            note(BASE + stats, took, 1);
        if (took >= U.getLong(null, BASE + LATENCY))
            Natives.slow(U.getInt(null, node + ID), took, now);
    }

    public static void leaveExactIf(long parent) {
        if (parent != 0)
            leaveExact(parent);
    }

    /** A call took so long, and stands for COUNT calls. */
    @ForceInline
    private static void note(long stats, long took, long count) {
        if (took < U.getLong(null, stats + MIN))
            U.putLong(null, stats + MIN, took);
        if (took > U.getLong(null, stats + MAX))
            U.putLong(null, stats + MAX, took);
        long length = took < SHORTEST ? SHORTEST : took > LONGEST ? LONGEST : took;
        long bucket = (Double.doubleToRawLongBits((double) length) >>> 50) - FIRST_BUCKET;
        add(stats + BUCKETS + (bucket << 3), count);
    }

    /* ---- exact timing of both clocks: there is no short way to the CPU's ---- */

    public static long enterBoth(int id) {
        long context = BASE + here();
        long parent = U.getLong(null, context + CURRENT);
        long child = down(parent, id);
        add(BASE + child + COUNT, 1);
        U.putLong(null, BASE + child + ENTERED, Natives.stamp(parent));
        U.putLong(null, context + CURRENT, child);
        return parent;
    }

    public static long enterBothIf(int number) {
        return closed(number) ? 0 : enterBoth(number & NUMBER);
    }

    public static void leaveBoth(long parent) {
        Natives.leave(parent);
    }

    public static void leaveBothIf(long parent) {
        if (parent != 0)
            leaveBoth(parent);
    }

    /* ---- adaptive timing: of some calls the time ---- */

    @ForceInline
    public static long enterAdaptive(int id) {
        long context = BASE + here();
        long parent = U.getLong(null, context + CURRENT);
        long child = down(parent, id);
        long node = BASE + child;
        long count = add(node + COUNT, 1);
        U.putLong(null, context + CURRENT, child);
        if (count < U.getLong(null, node + DUE)) {
            U.putLong(null, node + ENTERED, 0);
            return parent;
        }
        U.putLong(null, node + ENTERED, System.nanoTime());
        return parent | TIMED;
    }

    public static long enterAdaptiveIf(int number) {
        return closed(number) ? 0 : enterAdaptive(number & NUMBER);
    }

    @ForceInline
    public static void leaveAdaptive(long saved) {
        if ((saved & TIMED) == 0)
            leave(saved);
        else
            finish(saved);
    }

    public static void leaveAdaptiveIf(long saved) {
        if (saved != 0)
            leaveAdaptive(saved);
    }

    /** The end of a call that is timed; the same as finish in tree_time.c. */
    private static void finish(long saved) {
        long now = System.nanoTime();
        long parent = saved - TIMED;
        long context = U.getLong(null, BASE + parent + CONTEXT);
        long node = BASE + U.getLong(null, BASE + context + CURRENT);
        if (!quiet(context) || U.getLong(null, node + PARENT) != parent) {
            Natives.leave(saved);
            return;
        }
        context += BASE;
        long took = now - U.getLong(null, node + ENTERED) - U.getLong(null, BASE + CLOCK);
        if (took < 0)
            took = 0;
        long calls = U.getLong(null, node + COUNT);
        long count = calls - U.getLong(null, node + SINCE);
        U.putLong(null, node + SINCE, calls);
        U.putLong(null, node + ENTERED, 0);
        add(node + WALL, took);
        add(context + TAKEN_ALL, 1);
        int taken = U.getInt(null, context + TAKEN) + 1;
        int every = U.getInt(null, node + EVERY);
        U.putInt(null, context + TAKEN, taken);
        if (taken > U.getInt(null, BASE + QUOTA)) {
            every = (every << 1 | 1) & U.getInt(null, BASE + RAREST);
            U.putInt(null, node + EVERY, every);
            U.putInt(null, node + HOT, 1);
        }
        /* the clock's last digits are chance enough */
        long skip = every == 0 ? 0 : (now * 0x9e37_79b9_7f4a_7c15L >>> 33) & (every << 1 | 1);
        U.putLong(null, node + DUE, calls + 1 + skip);
        U.putLong(null, context + CURRENT, parent);
        long stats = U.getLong(null, node + STATS);
        if (stats != 0)
            note(BASE + stats, took, count);
        if (took >= U.getLong(null, BASE + LATENCY))
            Natives.slow(U.getInt(null, node + ID), took, now);
    }

    /* ---- Thread.sleep, where the JVM has no byte code for it (before JDK 19) ---- */

    public static void sleep(long ms) throws InterruptedException {
        long saved = enterIf(SLEEPING);
        try {
            Thread.sleep(ms);
        } finally {
            leaveIf(saved);
        }
    }

    public static void sleepExact(long ms) throws InterruptedException {
        long saved = enterExactIf(SLEEPING);
        try {
            Thread.sleep(ms);
        } finally {
            leaveExactIf(saved);
        }
    }

    public static void sleepBoth(long ms) throws InterruptedException {
        long saved = enterBothIf(SLEEPING);
        try {
            Thread.sleep(ms);
        } finally {
            leaveBothIf(saved);
        }
    }

    public static void sleepAdaptive(long ms) throws InterruptedException {
        long saved = enterAdaptiveIf(SLEEPING);
        try {
            Thread.sleep(ms);
        } finally {
            leaveAdaptiveIf(saved);
        }
    }

    /* ---- what they cost ---- */

    /** Enter and leave method ID a COUNT of times, for the agent to know what that costs here. */
    static void calibrate(int id, int count) {
        for (int i = 0; i < count; i++)
            leave(enter(id));
    }

    static void calibrateExact(int id, int count) {
        for (int i = 0; i < count; i++)
            leaveExact(enterExact(id));
    }

    static void calibrateBoth(int id, int count) {
        for (int i = 0; i < count; i++)
            leaveBoth(enterBoth(id));
    }

    static void calibrateAdaptive(int id, int count) {
        for (int i = 0; i < count; i++)
            leaveAdaptive(enterAdaptive(id));
    }
}
