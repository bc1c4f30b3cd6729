package one.profiler;

/** Times that a program marks. They are not recorded yet ({@link Recording#state}); calls cost a time stamp. */
public class Span {
    private Span() {
    }

    public static long start() {
        return Recording.timestamp();
    }

    public static void end(long startTime, String tag) {
    }

    public static void endIfProfiled(long startTime, String tag) {
    }

    public static void emit(long startTime, long endTime, String tag) {
    }

    public static void emitIfProfiled(long startTime, long endTime, String tag) {
    }
}
