import one.profiler.AsyncProfiler;
import one.profiler.Span;

/**
 * LIBRARY FILE [OPTIONS]: a recording by the library of a thread that works within spans "odd" and "even", and between
 * them.
 */
public final class MakeSpans {
    private static volatile double sink;

    private static void burn(long ms) {
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; ) {
            sink += Math.sin(sink);
        }
    }

    private static void odd() {
        burn(30);
    }

    private static void even() {
        burn(15);
    }

    private static void between() {
        burn(10);
    }

    public static void main(String[] args) throws Exception {
        AsyncProfiler profiler = AsyncProfiler.getInstance(args[0]);
        profiler.execute("start,event=cpu,interval=1ms,wall=5ms,file=" + args[1] + (args.length > 2 ? "," + args[2] : ""));
        for (int i = 0; i < 30; i++) {
            boolean odd = i % 2 == 1;
            long start = Span.start();
            if (odd) {
                odd();
            } else {
                even();
            }
            Span.end(start, odd ? "odd" : "even");
            between();
        }
        profiler.execute("stop,file=" + args[1]);
    }
}
