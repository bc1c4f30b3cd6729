import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** Prints what jdk.jfr.consumer finds in a recording, every value of every event looked at: "event count". */
public final class ReadRecording {
    private ReadRecording() {
    }

    public static void main(String[] args) throws Exception {
        Map<String, Long> counts = new TreeMap<>();

        try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                event.getFields().forEach(field -> event.getValue(field.getName()));
                counts.merge(event.getEventType().getName(), 1L, Long::sum);
            }
        }
        counts.forEach((name, count) -> System.out.println(name + " " + count));
    }
}
