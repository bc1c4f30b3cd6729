package demo;

import java.util.Random;

/** A client: writes orders as JSON text, the same ones in each run. */
final class OrderWriter {
    private static final String[] NAMES = {"Ada", "Grace", "Edsger", "Barbara", "Donald", "Frances"};
    private final Random random;
    private final Catalogue catalogue;
    private long number;

    OrderWriter(long seed, Catalogue catalogue) {
        this.random = new Random(seed);
        this.catalogue = catalogue;
    }

    String next() {
        StringBuilder out = new StringBuilder(512);
        String name = NAMES[random.nextInt(NAMES.length)];
        out.append("{\"number\": ").append(++number).append(", \"customer\": \"").append(name)
            .append("\", \"mail\": \"").append(name.toLowerCase()).append(random.nextInt(20) == 0 ? "" : "@example.org")
            .append("\", \"day\": \"").append(String.format("2026-%02d-%02d", 1 + random.nextInt(12), 1 + random.nextInt(28)))
            .append("\", \"lines\": [");
        int lines = 1 + random.nextInt(12);
        for (int i = 0; i < lines; i++) {
            out.append(i == 0 ? "" : ", ").append("{\"article\": \"").append(catalogue.any(random))
                .append("\", \"count\": ").append(1 + random.nextInt(9)).append('}');
        }
        return out.append("]}").toString();
    }
}
