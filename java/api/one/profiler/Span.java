package one.profiler;

/**
 * Times that a program marks: events profiler.Span of the recording that is made meanwhile. Without one a call costs a
 * time stamp. "IfProfiled" is no condition here: each span is recorded.
 */
public class Span {
    private Span() {
    }

    /** A moment, to be handed to {@link #end}. */
    public static long start() {
        return Recording.timestamp();
    }

    public static void end(long startTime, String tag) {
        emit(startTime, Recording.timestamp(), tag);
    }

    public static void endIfProfiled(long startTime, String tag) {
        end(startTime, tag);
    }

    /** From startTime to endTime, both by {@link Recording#timestamp}, on the calling thread. */
    public static void emit(long startTime, long endTime, String tag) {
        Recording.emit(startTime, endTime, tag);
    }

    public static void emitIfProfiled(long startTime, long endTime, String tag) {
        emit(startTime, endTime, tag);
    }
}
