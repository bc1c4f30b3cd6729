package client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import jstrobe.Format;
import jstrobe.Options;
import jstrobe.Profiler;

/** jstrobe.Profiler as programs use it. */
public final class Typed {
    private static volatile double sink;

    private static void burn(Profiler profiler, long least) {
        double x = 1;
        for (long end = System.nanoTime() + 60_000_000_000L; profiler.samples() < least; sink = x) {
            for (int i = 0; i < 100_000; i++)
                x += Math.sqrt(x);
            if (System.nanoTime() > end)
                throw new IllegalStateException("no samples in 60 s");
        }
    }

    private static void say(String name, Object value) {
        System.out.println("SAID " + name + "=" + value);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    public static void main(String[] args) throws IOException {
        Profiler profiler = Profiler.get();
        Path folder = Paths.get(args[0]);
        say("same", profiler == Profiler.get());
        say("idle", !profiler.isRunning());
        Options options = new Options().event("ctimer").interval(Duration.ofMillis(1)).threads().set("loglevel", "warn");
        say("options", options);
        profiler.start(options);
        say("running", profiler.isRunning());
        burn(profiler, 20);
        profiler.dump(folder.resolve("so far.html"));
        say("file", Files.size(folder.resolve("so far.html")) > 1000);
        say("dump", text(profiler.dump(Format.COLLAPSED)).contains("client/Typed.burn"));
        say("page", text(profiler.stop(Format.FLAMEGRAPH)).startsWith("<!DOCTYPE html>"));
        say("json", text(profiler.dump(Format.JSON)).startsWith("{"));
        say("status", profiler.status());
        Path recording = folder.resolve("x.jfr");
        profiler.start(new Options().event("ctimer").interval(Duration.ofMillis(1)).file(recording));
        burn(profiler, 20);
        byte[] bytes = profiler.dump(Format.JFR);
        say("jfr", bytes.length > 1000 && bytes[0] == 'F' && bytes[1] == 'L' && bytes[2] == 'R');
        profiler.stop();
        say("written", Files.size(recording) >= 1000);
        try {
            new Options().file(Paths.get("a,b"));
        } catch (IllegalArgumentException e) {
            say("comma", e.getMessage());
        }
        try {
            new Options().event("cpu/event=0x3c/,wall,sched:sched_switch/prev_pid=1").event("cpu,file=/tmp/x");
        } catch (IllegalArgumentException e) {
            say("second", e.getMessage());
        }
        try {
            profiler.start(new Options().file(folder.resolve("none/x.html")));
        } catch (IOException e) {
            say("folder", e.getMessage());
        }
        say("done", true);
    }
}
