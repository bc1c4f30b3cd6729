import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.Utils;

/** Kafka's log format: batches of records written, checked and read again. */
public final class KafkaLog {
    public static void main(String[] args) throws Exception {
        byte[][] keys = new byte[1000][], values = new byte[1000][];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = ("key-" + i * 7919).getBytes(StandardCharsets.UTF_8);
            char[] text = new char[40 + i % 200];
            Arrays.fill(text, (char) ('a' + i % 26));
            values[i] = new String(text).getBytes(StandardCharsets.UTF_8);
        }
        ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
        Steady.run(() -> {
            buffer.clear();
            MemoryRecordsBuilder builder = MemoryRecords.builder(buffer, RecordBatch.CURRENT_MAGIC_VALUE,
                    Compression.NONE, TimestampType.CREATE_TIME, 0L, 1_700_000_000_000L);
            for (int i = 0; i < keys.length; i++) {
                builder.append(1_700_000_000_000L + i, keys[i], values[i]);
            }
            MemoryRecords records = builder.build();
            long sum = 0;
            for (RecordBatch batch : records.batches()) {
                batch.ensureValid();
                for (Record r : batch) {
                    sum += r.offset() + r.valueSize() + Utils.murmur2(keys[(int) r.offset()]);
                    sum += r.key().get(r.key().position()) ;
                }
            }
            return sum;
        });
    }
}
