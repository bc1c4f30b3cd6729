package jstrobe;

/** What a result looks like. */
public enum Format {
    /** One line a stack: frames;from;the;root count. */
    COLLAPSED,
    /** The hottest methods. */
    FLAT,
    /** The hottest stacks. */
    TRACES,
    /** The hottest stacks and methods. */
    TEXT,
    /** The call tree as indented text. */
    CALLTREE,
    /** The whole result, for programs. */
    JSON,
    /** An offline page with a flame graph. */
    FLAMEGRAPH,
    /** A recording; the session must have been started with a file for it. */
    JFR;

    String word() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
