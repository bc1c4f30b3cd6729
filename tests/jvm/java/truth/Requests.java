package truth;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import jstrobe.context.SampleContext;

/**
 * Threads that say what they work for, and are then in a method of that name: span 4n + k is worked for in span{k}()
 * and nowhere else, nothing at all in nothing(). So each sample by itself shows whether it carries the right one.
 *
 * "platform N", "virtual N": N threads; "late": platform threads that first use the class when "end" was said. "pair N",
 * "virtual-pair N": nothing but the calls, and how long one of each takes is the counter picoseconds. "locks": two threads and a monitor. "otel N": as
 * platform, but told by a record of OpenTelemetry's.
 */
public final class Requests {
    private static final long TRACE_HIGH = 0x4bf92f3577b34da6L;
    private static final long TRACE_LOW = 0xa3ce929d0e0e4736L;
    private static final AtomicLong SPANS = new AtomicLong();
    private static final Object LOCK = new Object();
    private static long[] labels;
    private static boolean sleeps;
    private static boolean otel;

    private Requests() {
    }

    /** A record of OpenTelemetry's, in tests/jvm/native/otel.c; span 0 takes it away. */
    private static native void publish(long high, long low, long span);

    private static void tell(long span, long labels) {
        if (otel) {
            publish(TRACE_HIGH, TRACE_LOW, span);
        } else if (span == 0) {
            SampleContext.clear();
        } else {
            SampleContext.set(TRACE_HIGH, TRACE_LOW, span, labels);
        }
    }

    private static void burn(long ns) {
        long end = System.nanoTime() + ns;
        while (System.nanoTime() < end) {
            Program.sink = Program.work(100);
        }
        if (sleeps) {
            Program.sleep(1);
            for (end = System.nanoTime() + ns; System.nanoTime() < end;) {
                Program.sink = Program.work(100);
            }
        }
    }

    private static void span0(long ns) {
        burn(ns);
    }

    private static void span1(long ns) {
        burn(ns);
    }

    /** With a span within it. */
    private static void span2(long ns, long span) {
        burn(ns / 2);
        tell(span + 1, labels[3]);
        span3(ns);
        tell(span, labels[2]);
        burn(ns / 2);
    }

    private static void span3(long ns) {
        burn(ns);
    }

    private static void nothing(long ns) {
        burn(ns);
    }

    private static void request(int kind, long ns) {
        long span = SPANS.addAndGet(8) & -4 | kind;
        if (kind == 0 && !otel) {
            SampleContext.set("4bf92f3577b34da6a3ce929d0e0e4736", String.format("%016x", span));
        } else {
            tell(span, labels[kind]);
        }
        try {
            switch (kind) {
                case 0:
                    span0(ns);
                    break;
                case 1:
                    span1(ns);
                    break;
                default:
                    span2(ns, span);
            }
        } finally {
            tell(0, 0);
        }
    }

    /** Once "end" was said: this thread begins anew. Whether it has said so. */
    private static boolean anew(boolean said) {
        if (!said && Program.ending) {
            Program.count("anew", 1);
        }
        return Program.ending;
    }

    private static void work() {
        for (boolean anew = false; !Program.stopping;) {
            anew = anew(anew);
            request(0, 500_000);
            request(1, 500_000);
            nothing(500_000);
            request(2, 500_000);
        }
    }

    private static void prepare() {
        labels = new long[] {0, SampleContext.labels("route", "GET /a\"b", "tenant", "t\u00e9n"), 0,
            SampleContext.labels("route", "inner")};
    }

    private static void late() {
        while (!Program.ending) {
            Program.sleep(1);
        }
        prepare();
        work();
    }

    /** ps of a set and a clear. */
    private static long pair(int rounds) {
        long begin = System.nanoTime();
        for (int i = 0; i < rounds; i++) {
            SampleContext.set(TRACE_HIGH, TRACE_LOW, i);
            SampleContext.clear();
        }
        return (System.nanoTime() - begin) * 1000 / rounds;
    }

    private static void pairs() {
        /* short ones, whose median no other thread on this CPU can change */
        long[] times = new long[101];
        while (!Program.stopping) {
            for (int i = 0; i < times.length; i++) {
                times[i] = pair(20_000);
            }
            Arrays.sort(times);
            Program.set("picoseconds", times[times.length / 2]);
            Program.count("rounds", 1);
        }
    }

    private static void holds() {
        while (!Program.stopping) {
            synchronized (LOCK) {
                Program.sleep(5);
            }
            Program.sleep(1);
        }
    }

    private static void waits() {
        for (boolean anew = false; !Program.stopping;) {
            anew = anew(anew);
            long span = SPANS.addAndGet(8) & -4 | 1;
            SampleContext.set(TRACE_HIGH, TRACE_LOW, span, labels[1]);
            span1ofLock();
            SampleContext.clear();
            Program.sleep(1);
        }
    }

    private static void span1ofLock() {
        synchronized (LOCK) {
            Program.sink++;
        }
    }

    private static Thread start(String name, boolean virtual, Runnable body) throws Exception {
        if (!virtual) {
            return Program.thread(name, body);
        }
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
    }

    public static void main(String[] args) throws Exception {
        String what = args[0];
        sleeps = what.equals("virtual");
        otel = what.equals("otel");
        if (otel) {
            System.load(System.getProperty("user.dir") + "/libtruth.so");
        }
        if (what.equals("late")) {
            Program.thread("late", Requests::late);
        } else {
            prepare();
        }
        int count = args.length > 1 ? Integer.parseInt(args[1]) : 0;
        for (int i = 0; i < count; i++) {
            start("request-" + i, what.startsWith("virtual"), what.endsWith("pair") ? Requests::pairs : Requests::work);
        }
        if (what.equals("locks")) {
            Program.thread("holder", Requests::holds);
            Program.thread("waiter", Requests::waits);
        }
        Program.serve();
    }
}
