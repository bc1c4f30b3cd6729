package client;

import one.profiler.AsyncProfiler;
import one.profiler.Counter;
import one.profiler.Events;
import one.profiler.Recording;
import one.profiler.Span;

/** Everything that async-profiler's jar offers; compiled against that jar, and run with another one. */
public final class Known {
    private static volatile double sink;

    private static void burn(AsyncProfiler profiler, long least) {
        double x = 1;
        for (long end = System.nanoTime() + 60_000_000_000L; profiler.getSamples() < least; sink = x) {
            for (int i = 0; i < 100_000; i++)
                x += Math.sqrt(x);
            if (System.nanoTime() > end)
                throw new IllegalStateException("no samples in 60 s");
        }
    }

    private static String thrown(Runnable what) {
        try {
            what.run();
            return "nothing";
        } catch (RuntimeException e) {
            return e.getClass().getSimpleName();
        }
    }

    private static void say(String name, Object value) {
        System.out.println("SAID " + name + "=" + value);
    }

    public static void main(String[] args) throws Exception {
        AsyncProfiler profiler = args.length > 0 ? AsyncProfiler.getInstance(args[0]) : AsyncProfiler.getInstance();
        say("same", profiler == AsyncProfiler.getInstance());
        say("version", profiler.getVersion());
        say("null", thrown(() -> profiler.start(null, 0)));
        say("stopped", thrown(profiler::stop));
        profiler.start(Events.CTIMER, 1_000_000);
        say("twice", thrown(() -> profiler.start(Events.CPU, 0)));
        long time = Span.start();
        burn(profiler, 20);
        Span.end(time, "tag");
        Span.endIfProfiled(time, "tag");
        Span.emit(time, Recording.timestamp(), "tag");
        say("state", Recording.state() != Recording.RUNNING);
        profiler.stop();
        long samples = profiler.getSamples();
        say("collapsed", profiler.dumpCollapsed(Counter.SAMPLES).contains("client/Known.burn"));
        say("total", profiler.dumpCollapsed(Counter.TOTAL).length() > 0);
        say("flat", profiler.dumpFlat(3).contains("Known.burn"));
        say("flat0", profiler.dumpFlat(0).contains("Known.burn"));
        say("traces", profiler.dumpTraces(2).contains("Known.burn"));
        say("otlp", thrown(() -> profiler.dumpOtlp(Counter.SAMPLES)));
        profiler.resume(Events.CTIMER, 1_000_000);
        burn(profiler, samples + 10);
        profiler.stop();
        profiler.addThread(Thread.currentThread());
        profiler.execute("start,event=ctimer,interval=1ms,filter");
        burn(profiler, 10);
        say("filtered", profiler.execute("stop,collapsed").contains("client/Known.burn"));
        profiler.removeThread(Thread.currentThread());
        System.out.println("SAID done=true");
    }
}
