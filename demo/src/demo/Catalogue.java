package demo;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/** Articles and their prices. */
final class Catalogue {
    private static final String[] COLOURS = {"", "-red", "-blue", "-green-large", "-yellow-small"};
    private final Map<String, Integer> cents = new HashMap<>();
    private final String[] articles = new String[2000];

    Catalogue() {
        Random random = new Random(42);
        for (int i = 0; i < articles.length; i++) {
            articles[i] = String.format("%c%c-%04d%s", 'A' + i % 26, 'A' + i / 26 % 26, i, COLOURS[i % COLOURS.length]);
            cents.put(articles[i], 100 + random.nextInt(10_000));
        }
    }

    String any(Random random) {
        return articles[random.nextInt(articles.length)];
    }

    /** Price of an order in cents, with a discount for many pieces. */
    long price(Order order) {
        return order.lines.stream()
            .mapToLong(line -> (long) cents.getOrDefault(line.article, 0) * line.count * (line.count > 5 ? 95 : 100) / 100)
            .sum();
    }
}
