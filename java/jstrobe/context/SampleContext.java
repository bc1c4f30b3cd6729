package jstrobe.context;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.HashMap;
import java.util.Map;

/**
 * What the current thread works for, as samples of jstrobe show it: trace id, span id, labels.
 *
 * <pre>
 * SampleContext.set(traceHigh, traceLow, span);
 * try { … } finally { SampleContext.clear(); }
 * </pre>
 *
 * Platform and virtual threads alike: it belongs to the thread, wherever that runs, until the thread itself says
 * something else. Nothing is inherited by other threads. Without the agent in the JVM all of it does nothing; the agent
 * may come at any time. Any thread may call; nothing blocks and nothing is allocated, except by {@link #labels}.
 *
 * How it works: src/agent/sample/trace_context.h. The cells of all threads lie in a table of native memory, and the one of this
 * thread is where its number leads.
 */
public final class SampleContext {
    private static final int CELLS = 64 * 1024;
    private static final int PROBES = 8;
    private static final int STRIDE = 4099;
    /* a cell, in longs */
    private static final int CELL = 8;
    private static final int HIGH = 1;
    private static final int LOW = 2;
    private static final int SPAN = 3;
    private static final int LABELS = 4;
    private static final int CHECK = 5;

    private static final int LABEL_SETS = 10_000;
    private static final int LABEL_CHARS = 1 << 20; /* of all sets: 3 MB in UTF-8, less than the agent keeps */
    private static final int SET_CHARS = 4096;
    private static final Map<Long, String> SETS = new HashMap<>();
    private static int chars;
    private static long refused;

    /** null: no agent. A thread that sees it late says nothing until then. */
    private static LongBuffer table;

    static {
        open();
    }

    private SampleContext() {
    }

    /** Whether the agent is there: else what the other methods are given need not be worked out. */
    public static boolean isActive() {
        return table != null;
    }

    /** The current thread works for this span from now on; without labels. */
    public static void set(long traceHigh, long traceLow, long span) {
        set(traceHigh, traceLow, span, 0);
    }

    /** The same with a set of labels, as {@link #labels} gave it; 0 is none. */
    public static void set(long traceHigh, long traceLow, long span, long labels) {
        LongBuffer t = table;
        if (t != null) {
            write(t, traceHigh, traceLow, span, labels);
        }
    }

    /*
     * In methods of their own, since the agent may come when this is compiled already: what the JVM knows then of the
     * branches is that the table is never there, and it would inline nothing behind that.
     */
    private static void write(LongBuffer t, long traceHigh, long traceLow, long span, long labels) {
        long thread = Thread.currentThread().getId();
        int cell = home(thread);
        if (t.get(cell) != thread) {
            cell = find(t, thread, true);
        }
        t.put(cell + HIGH, traceHigh);
        t.put(cell + LOW, traceLow);
        t.put(cell + SPAN, span);
        t.put(cell + LABELS, labels);
        t.put(cell + CHECK, check(thread, traceHigh, traceLow, span, labels));
    }

    /** The same with a trace id of 32 hexadecimal digits and a span id of 16, as W3C writes them. */
    public static void set(String traceId, String spanId) {
        if (table != null) {
            set(hex(traceId, 0), hex(traceId, 16), hex(spanId, 0), 0);
        }
    }

    /** The current thread works for nothing that has a name. */
    public static void clear() {
        LongBuffer t = table;
        if (t != null) {
            erase(t);
        }
    }

    private static void erase(LongBuffer t) {
        long thread = Thread.currentThread().getId();
        int cell = home(thread);
        if (t.get(cell) != thread) {
            cell = find(t, thread, false);
            if (cell < 0) {
                return;
            }
        }
        t.put(cell + CHECK, 0);
    }

    /**
     * The number of a set of labels: key, value, key, value … Ask once and keep it. The same labels have the same
     * number, different ones another. At most 10,000 sets, with 4,096 characters each and 1,048,576 in all, are known;
     * the number of further ones is 0, which is counted: {@link #labelsRefused}.
     */
    public static long labels(String... keysAndValues) {
        if (keysAndValues.length % 2 != 0) {
            throw new IllegalArgumentException("a key without a value");
        }
        if (keysAndValues.length == 0) {
            return 0;
        }
        long length = 0;
        for (String word : keysAndValues) {
            length += word.length() + 1;
        }
        if (length > SET_CHARS) {
            synchronized (SETS) {
                return refuse();
            }
        }
        StringBuilder words = new StringBuilder((int) length);
        for (String word : keysAndValues) {
            words.append(word.replace('\n', ' ')).append('\n');
        }
        String text = words.toString();
        synchronized (SETS) {
            return known(text);
        }
    }

    /** How many times {@link #labels} had no number to give. */
    public static long labelsRefused() {
        synchronized (SETS) {
            return refused;
        }
    }

    private static long refuse() {
        refused++;
        if (table != null) {
            define(0, "1");
        }
        return 0;
    }

    /* With SETS held. Two texts can have one hash: the later one gets the next number that is free. */
    private static long known(String text) {
        long number = number(text);
        String its = SETS.get(number);
        while (its != null && !its.equals(text)) {
            number = number == -1 ? 1 : number + 1;
            its = SETS.get(number);
        }
        if (its != null) {
            return number;
        }
        if (SETS.size() >= LABEL_SETS || chars + text.length() > LABEL_CHARS) {
            return refuse();
        }
        chars += text.length();
        SETS.put(number, text);
        if (table != null) {
            define(number, text);
        }
        return number;
    }

    /* FNV-1a, 64 bits; never 0 */
    private static long number(CharSequence text) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
        }
        return hash == 0 ? 1 : hash;
    }

    private static long hex(String text, int from) {
        long value = 0;
        for (int i = from; i < from + 16; i++) {
            value = value << 4 | Character.digit(text.charAt(i), 16);
        }
        return value;
    }

    private static int home(long thread) {
        return ((int) thread & CELLS - 1) * CELL;
    }

    private static long check(long thread, long high, long low, long span, long labels) {
        return (thread * 0x9e3779b97f4a7c15L + high * 0xbf58476d1ce4e5b9L + low * 0x94d049bb133111ebL
                + span * 0xd6e8feb86659fd93L + labels * 0xff51afd7ed558ccdL) | 1;
    }

    /** This thread's cell, which is not the one where it would be best; -1: it has none. */
    private static int find(LongBuffer t, long thread, boolean make) {
        for (int probe = 0; probe < PROBES; probe++) {
            int cell = home(thread + probe * STRIDE);
            long its = t.get(cell);
            if (its == thread) {
                return cell;
            }
            if (its == 0) {
                break;
            }
        }
        return make ? claim(thread) * CELL : -1;
    }

    /*
     * What methods of a buffer have in their signatures (JDK 16 to 18, from 19 on): as long as it is not loaded, the
     * JIT compiler does not inline them.
     */
    private static void load() {
        for (String name : new String[] {"jdk.internal.misc.ScopedMemoryAccess$Scope",
            "jdk.internal.foreign.MemorySessionImpl"}) {
            try {
                Class.forName(name, false, null);
            } catch (ClassNotFoundException e) {
                /* another JDK */
            }
        }
    }

    /** The agent is there, or has just come; it calls this, too. */
    private static void open() {
        try {
            ByteBuffer memory = memory();
            if (memory == null) {
                return;
            }
            load();
            LongBuffer fresh = memory.order(ByteOrder.nativeOrder()).asLongBuffer();
            synchronized (SETS) {
                for (Map.Entry<Long, String> set : SETS.entrySet()) {
                    define(set.getKey(), set.getValue());
                }
                if (refused > 0) {
                    define(0, Long.toString(refused));
                }
                table = fresh;
            }
        } catch (UnsatisfiedLinkError e) {
            /* no agent */
        }
    }

    /* in C: src/agent/context/java_context.c */

    private static native ByteBuffer memory();

    /** The number of a cell for THREAD from now on. */
    private static native int claim(long thread);

    /** Number 0: so many more sets, a decimal number in TEXT, were refused. */
    private static native void define(long number, String text);
}
