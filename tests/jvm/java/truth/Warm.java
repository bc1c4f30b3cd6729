package truth;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A program that has much of the JDK compiled: a thread does this and that over and over and hands results to another,
 * which waits for them. Counter: `rounds`.
 */
public final class Warm {
    private static final Pattern WORD = Pattern.compile("([a-z]+)-(\\d+)(?:/(x|y))?");
    private static final LinkedBlockingQueue<String> QUEUE = new LinkedBlockingQueue<>(4);

    private static String round(int seed) {
        StringBuilder text = new StringBuilder();
        Map<String, Integer> counts = new HashMap<>();
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 20; i++)
            words.add(String.format(Locale.ROOT, "word-%d/%s %08x %.3f", seed + i, i % 2 == 0 ? "x" : "y", seed, i / 3.0));
        for (String word : words) {
            java.util.regex.Matcher m = WORD.matcher(word);
            if (m.find())
                counts.merge(m.group(1) + m.group(3), Integer.parseInt(m.group(2)), Integer::sum);
            text.append(word.toUpperCase(Locale.ROOT).replace('X', 'z')).append(Arrays.toString(word.split("[-/ ]")));
        }
        Collections.sort(words, Collections.reverseOrder());
        Map<Integer, List<String>> by = words.stream().filter(w -> w.length() > 3)
            .collect(Collectors.groupingBy(w -> w.hashCode() & 7, TreeMap::new, Collectors.toList()));
        BigInteger number = BigInteger.valueOf(seed).pow(9).multiply(BigInteger.TEN).mod(BigInteger.valueOf(1000003));
        UUID id = UUID.nameUUIDFromBytes(text.toString().getBytes(StandardCharsets.UTF_8));
        return id + " " + number + " " + by.size() + " " + counts.size();
    }

    public static void main(String[] args) throws Exception {
        Program.thread("maker", () -> {
            for (int seed = 0; !Program.stopping; seed++) {
                try {
                    QUEUE.put(round(seed & 1023));
                } catch (InterruptedException e) {
                    return;
                }
                Program.count("rounds", 1);
            }
        });
        Program.thread("taker", () -> {
            while (!Program.stopping) {
                try {
                    Program.sink += QUEUE.take().length();
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        Program.serve();
    }
}
