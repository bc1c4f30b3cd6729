package one.profiler;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Objects;
import jstrobe.Profiler;

/**
 * jstrobe under the names of async-profiler, for code that was compiled against its jar.
 *
 * @see jstrobe.Profiler
 */
public class AsyncProfiler implements AsyncProfilerMXBean {
    private static AsyncProfiler instance;

    private final Profiler profiler;

    private AsyncProfiler(Profiler profiler) {
        this.profiler = profiler;
    }

    public static AsyncProfiler getInstance() {
        return getInstance(null);
    }

    /** With the library in this file, if it is not null and none is loaded. */
    public static synchronized AsyncProfiler getInstance(String libPath) {
        if (instance == null) {
            Path path = libPath == null ? null : Paths.get(libPath);
            instance = new AsyncProfiler(Profiler.get(path));
            Recording.look();
        }
        return instance;
    }

    @Override
    public void start(String event, long interval) throws IllegalStateException {
        profiler.start(event, interval);
    }

    @Override
    public void resume(String event, long interval) throws IllegalStateException {
        profiler.resume(event, interval);
    }

    @Override
    public void stop() throws IllegalStateException {
        profiler.stop();
    }

    @Override
    public long getSamples() {
        return profiler.samples();
    }

    @Override
    public String getVersion() {
        return profiler.version();
    }

    @Override
    public String execute(String command) throws IllegalArgumentException, IllegalStateException, IOException {
        return profiler.execute(command);
    }

    @Override
    public String dumpCollapsed(Counter counter) {
        return text("collapsed," + word(counter));
    }

    /** The hottest stacks; 0: as many as the format has by itself. */
    @Override
    public String dumpTraces(int maxTraces) {
        return text(maxTraces == 0 ? "traces" : "traces=" + maxTraces);
    }

    /** The hottest methods; 0: as many as the format has by itself. */
    @Override
    public String dumpFlat(int maxMethods) {
        return text(maxMethods == 0 ? "flat" : "flat=" + maxMethods);
    }

    @Override
    public byte[] dumpOtlp(Counter counter) {
        try {
            return profiler.executeForBytes("otlp," + word(counter));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** For sessions with the option {@code filter}; a thread that does not run is nothing. */
    public void addThread(Thread thread) {
        profiler.addThread(thread);
    }

    public void removeThread(Thread thread) {
        profiler.removeThread(thread);
    }

    private String text(String command) {
        try {
            return profiler.execute(command);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String word(Counter counter) {
        return Objects.requireNonNull(counter) == Counter.TOTAL ? "total" : "samples";
    }
}
