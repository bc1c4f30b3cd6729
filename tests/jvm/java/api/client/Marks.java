package client;

import one.profiler.AsyncProfiler;
import one.profiler.Recording;
import one.profiler.Span;

/**
 * Spans of known times and tags: by the ways that Span has, of several threads, with tags of all kinds, before, in and
 * after a recording. Says each that belongs in it: "SPAN start duration thread tag".
 */
public final class Marks {
    private static final String[] TAGS = {"plain", "", "\u00fc\u20ac\ud83d\ude00", "a\u0000b", "half \ud83d", "with\nline"};

    private Marks() {
    }

    private static void say(String name, Object value) {
        System.out.println("SAID " + name + "=" + value);
    }

    private static synchronized void told(long from, long to, String tag) {
        System.out.println("SPAN " + from + " " + (to - from) + " " + Thread.currentThread().getName() + " "
            + (tag == null ? "" : tag).replace("\n", "\\n").replace("\u0000", "\\0"));
    }

    private static void emit(long from, long to, String tag) {
        Span.emit(from, to, tag);
        told(from, to, tag);
    }

    private static void mark() {
        for (String tag : TAGS) {
            long from = Recording.timestamp();
            emit(from, from + 1_000_000, tag);
        }
        long now = Recording.timestamp();
        emit(now, now, null);
        Span.emit(now, now - 5, "ends early");
        told(now, now, "ends early");
        Span.emitIfProfiled(now - 7_000, now, "if profiled");
        told(now - 7_000, now, "if profiled");
    }

    public static void main(String[] args) throws Exception {
        Span.end(Span.start(), "without library");
        say("unavailable", Recording.state() == Recording.UNAVAILABLE);
        AsyncProfiler profiler = AsyncProfiler.getInstance(args[0]);
        say("stopped", Recording.state() == Recording.STOPPED);
        Span.end(Span.start(), "before");
        profiler.execute("start,event=ctimer,interval=1ms,file=" + args[1]);
        say("running", Recording.state() == Recording.RUNNING);
        Thread other = new Thread(Marks::mark, "other");
        other.start();
        mark();
        other.join();
        long from = Span.start(), used = 0;
        while (System.nanoTime() - from < 300_000_000L) {
            used += Integer.bitCount((int) used) + 1;
        }
        Span.end(from, "burn");
        say("burnt", used > 0);
        profiler.execute("stop,file=" + args[1]);
        say("again", Recording.state() == Recording.STOPPED);
        Span.end(Span.start(), "after");
        profiler.execute("start,event=ctimer,interval=1ms");
        say("no file", Recording.state() == Recording.STOPPED);
        profiler.execute("stop");
        say("done", true);
    }
}
