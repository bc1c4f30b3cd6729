import one.profiler.AsyncProfiler;
import one.profiler.Span;

/** LIBRARY FILE: two virtual threads, one with a name, work within spans at the same time, each in a method of its own. */
public final class VirtualSpans {
    private static volatile double named, unnamed;

    private static void ofNamed(long ms) {
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; ) {
            named += Math.sin(named);
        }
    }

    private static void ofUnnamed(long ms) {
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; ) {
            unnamed += Math.sin(unnamed);
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(3);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Each span sleeps in its middle, and so may end on another carrier. */
    private static void run(String tag) {
        for (int i = 0; i < 20; i++) {
            long start = Span.start();
            for (int k = 0; k < 2; k++) {
                if (tag.equals("named")) {
                    ofNamed(10);
                } else {
                    ofUnnamed(10);
                }
                sleep();
            }
            Span.end(start, tag);
        }
    }

    public static void main(String[] args) throws Exception {
        AsyncProfiler profiler = AsyncProfiler.getInstance(args[0]);
        profiler.execute("start,event=cpu,interval=1ms,wall=5ms,file=" + args[1]);
        Thread one = Thread.ofVirtual().name("worker of orders").start(() -> run("named"));
        Thread two = Thread.ofVirtual().start(() -> run("unnamed"));
        System.out.println("IDS " + one.threadId() + " " + two.threadId());
        one.join();
        two.join();
        for (int i = 0; i < 3000; i++) {
            String name = "request number " + i;
            Thread.ofVirtual().name(name).start(() -> Span.end(Span.start(), "short of many")).join();
        }
        long start = Span.start();
        ofNamed(50);
        Span.end(start, "platform");
        profiler.execute("stop,file=" + args[1]);
    }
}
