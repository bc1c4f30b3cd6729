package jstrobe;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;

/**
 * The profiler of this JVM. There is one, whatever loads it: this class, async-profiler's names for it, the command
 * {@code jstrobe}, an agent.
 *
 * <pre>
 * Profiler profiler = Profiler.get();
 * profiler.start(new Options().event("cpu").interval(Duration.ofMillis(1)));
 * …
 * byte[] page = profiler.stop(Format.FLAMEGRAPH);
 * </pre>
 *
 * All methods may be called by any thread. They throw IllegalArgumentException for options that cannot be read,
 * IllegalStateException for what cannot be done now, and IOException where a file is the reason.
 */
public final class Profiler {
    private static Profiler instance;

    private Profiler() {
    }

    /**
     * The profiler. Where no agent has brought its library yet, it is the file that the property
     * {@code jstrobe.libraryPath} names, else the one in this jar, else the one on {@code java.library.path}.
     *
     * @throws IllegalStateException if there is no library for this machine, or it cannot be loaded
     */
    public static Profiler get() {
        return get(null);
    }

    /** The same, with the library in this file; null means as get() does. */
    public static synchronized Profiler get(Path library) {
        if (instance == null) {
            Profiler profiler = new Profiler();
            if (library != null || !profiler.isLoaded())
                load(library);
            instance = profiler;
        }
        return instance;
    }

    /** An agent's library is known to the JVM already. */
    private boolean isLoaded() {
        try {
            getSamples();
            return true;
        } catch (UnsatisfiedLinkError e) {
            return false;
        }
    }

    /* This class itself must load: it is what native methods are bound to. */
    private static void load(Path file) {
        String named = file != null ? file.toString() : Library.named();
        try (Library library = named == null ? Library.extracted() : null) {
            if (named != null)
                System.load(new File(named).getAbsolutePath());
            else if (library == null)
                System.loadLibrary("jstrobe");
            else
                System.load(library.path());
        } catch (UnsatisfiedLinkError e) {
            throw new IllegalStateException("the profiler's library cannot be loaded: " + e.getMessage()
                + "; -Djstrobe.libraryPath=FILE names another, -Djstrobe.extractPath=FOLDER where this one is unpacked",
                e);
        } catch (IOException e) {
            throw new IllegalStateException("the profiler's library cannot be unpacked: " + e.getMessage()
                + "; -Djstrobe.extractPath=FOLDER names another folder", e);
        }
    }

    /** Begin a session. */
    public void start(Options options) throws IOException {
        execute(with("start", options));
    }

    /** Begin again, and keep what the last session gathered. */
    public void resume(Options options) throws IOException {
        execute(with("resume", options));
    }

    /** Begin a session of one event; interval 0: its own. */
    public void start(String event, long interval) {
        start0(Objects.requireNonNull(event), interval, true);
    }

    /** The same, and keep what the last session gathered. */
    public void resume(String event, long interval) {
        start0(Objects.requireNonNull(event), interval, false);
    }

    /** End the session. If it was started with a file, the result is written there. */
    public void stop() {
        stop0();
    }

    /** End the session; its result. */
    public byte[] stop(Format format) throws IOException {
        return executeForBytes(with("stop", new Options().format(format)));
    }

    /** End the session; its result, with options of results as well. */
    public byte[] stop(Options options) throws IOException {
        return executeForBytes(with("stop", options));
    }

    /** The result so far, or that of the last session. */
    public byte[] dump(Format format) throws IOException {
        return executeForBytes(with("dump", new Options().format(format)));
    }

    /** The same, with options of results as well. */
    public byte[] dump(Options options) throws IOException {
        return executeForBytes(with("dump", options));
    }

    /** The result so far into a file, whose extension is its format. */
    public void dump(Path file) throws IOException {
        execute(with("dump", new Options().file(file)));
    }

    /** Whether a session runs. */
    public boolean isRunning() {
        return status().startsWith("Profiling is running");
    }

    /** A sentence on how it stands. */
    public String status() {
        return quietly("status").trim();
    }

    /** Samples of the session that runs, or of the last one. */
    public long samples() {
        return getSamples();
    }

    /** The version of the library. */
    public String version() {
        return quietly("version");
    }

    /** Sessions with the option {@code filter} sample this thread (null: the one that calls). */
    public void addThread(Thread thread) {
        filter(thread, true);
    }

    /** Such sessions do not sample this thread (any more). */
    public void removeThread(Thread thread) {
        filter(thread, false);
    }

    private void filter(Thread thread, boolean enable) {
        if (thread == null || thread == Thread.currentThread()) {
            filterThread0(null, enable);
            return;
        }
        /* it cannot end meanwhile: the JVM takes its lock for that */
        synchronized (thread) {
            if (thread.isAlive())
                filterThread0(thread, enable);
        }
    }

    /** Carry out an option string, such as {@code start,event=cpu,file=out.html}; the answer. */
    public String execute(String command) throws IOException {
        return execute0(Objects.requireNonNull(command));
    }

    /** The same, for results that are no text; the command may not name a file. */
    public byte[] executeForBytes(String command) throws IOException {
        return execute1(Objects.requireNonNull(command));
    }

    private String quietly(String command) {
        try {
            return execute0(command);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String with(String action, Options options) {
        String text = options.toString();
        return text.isEmpty() ? action : action + "," + text;
    }

    private native void start0(String event, long interval, boolean reset);

    private native void stop0();

    private native String execute0(String command) throws IOException;

    private native byte[] execute1(String command) throws IOException;

    private native long getSamples();

    private native void filterThread0(Thread thread, boolean enable);
}
