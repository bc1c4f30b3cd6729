package jstrobe;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * What to sample, and what the result looks like. The most used options have methods; {@link #set} takes all that
 * {@code jstrobe help options} lists under their names in the agent's string.
 */
public final class Options {
    private final Map<String, String> values = new LinkedHashMap<>();

    /** What to sample: cpu, wall, alloc, lock, a perf event, a Java method. Several go apart by commas. */
    public Options event(String events) {
        for (String event : checked("event", events, "\n").split(",", -1)) {
            int equals = event.indexOf('=');
            String name = equals < 0 ? "" : event.substring(0, equals);
            // "cpu/event=0x3c/" is an event; "file=x" is another option
            if (equals >= 0 && name.indexOf('/') < 0 && name.indexOf(':') < 0)
                throw new IllegalArgumentException("event: '" + event + "' is another option");
        }
        values.put("event", events);
        return this;
    }

    /** Time between two samples of the first event. */
    public Options interval(Duration interval) {
        return set("interval", interval.toNanos() + "ns");
    }

    /** The same as a number of events or bytes. */
    public Options interval(long count) {
        return set("interval", Long.toString(count));
    }

    /** Wall-clock sampling as well. */
    public Options wall(Duration interval) {
        return set("wall", interval.toNanos() + "ns");
    }

    /** Allocations as well, a sample in so many bytes. */
    public Options alloc(long bytes) {
        return set("alloc", Long.toString(bytes));
    }

    /** Waits for locks as well, of at least this time. */
    public Options lock(Duration least) {
        return set("lock", least.toNanos() + "ns");
    }

    /** The result by threads. */
    public Options threads() {
        return set("threads");
    }

    /** Where the result goes; its extension is the format unless that is said. */
    public Options file(Path file) {
        return set("file", file.toString());
    }

    /** What the result looks like. */
    public Options format(Format format) {
        return set("output", format.word());
    }

    /** Any option without a value. */
    public Options set(String name) {
        values.put(checked("an option's name", name, ",=\n"), null);
        return this;
    }

    /** Any option. */
    public Options set(String name, String value) {
        values.put(checked("an option's name", name, ",=\n"), checked(name, value, ",\n"));
        return this;
    }

    private static String checked(String what, String text, String refused) {
        Objects.requireNonNull(text, what);
        for (int i = 0; i < refused.length(); i++)
            if (text.indexOf(refused.charAt(i)) >= 0)
                throw new IllegalArgumentException(what + ": '" + text + "' has a character that ends an option");
        return text;
    }

    /** As an option string. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, String> option : values.entrySet()) {
            text.append(text.length() == 0 ? "" : ",").append(option.getKey());
            if (option.getValue() != null)
                text.append('=').append(option.getValue());
        }
        return text.toString();
    }
}
