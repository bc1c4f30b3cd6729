package one.profiler;

/** What collapsed stacks count. */
public enum Counter {
    /** Samples. */
    SAMPLES,
    /** What they weigh: nanoseconds, bytes. */
    TOTAL
}
