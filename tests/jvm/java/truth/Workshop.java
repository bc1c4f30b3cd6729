package truth;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/**
 * The same work in each run: one thread does unit after unit. A unit is 80 parts of equal cost in methods of known size,
 * and some ordinary library code. Arguments: EXTRA more parts of `price` (5: the whole does about 5 % more), and NEW, parts
 * of a method that is not called otherwise. Each loop's result is the next one's start, so that no compiler makes it
 * shorter. It is ready when it has done enough for all to be compiled. Counter `units`.
 */
public final class Workshop {
    private static final int PART = 2000;
    private static final int WARM = 8000;
    private final Map<String, Integer> stock = new HashMap<>();
    private final int extra, other;
    private long state = 88172645463325252L;

    private Workshop(int extra, int other) {
        this.extra = extra;
        this.other = other;
        for (int i = 0; i < 500; i++) {
            stock.put("article-" + i, i);
        }
    }

    public static void main(String[] args) throws Exception {
        int extra = args.length > 0 ? Integer.parseInt(args[0]) : 0, other = args.length > 1 ? Integer.parseInt(args[1]) : 0;
        Workshop shop = new Workshop(extra, other);
        CountDownLatch warm = new CountDownLatch(1);
        Program.thread("shop", () -> shop.serve(warm));
        warm.await();
        Thread.sleep(500);
        Program.serve();
    }

    private void serve(CountDownLatch warm) {
        for (int i = 0; !Program.stopping; i++) {
            unit();
            Program.count("units", 1);
            if (i == WARM) {
                warm.countDown();
            }
        }
    }

    private void unit() {
        accept();
        plan();
        ship();
        if (other > 0) {
            audit(other);
        }
        Program.sink = state;
    }

    private void accept() {
        parse(22);
        check(4);
        find();
    }

    private void plan() {
        price(10 + extra);
        pack(18);
        sort();
    }

    private void ship() {
        route(16);
        label(6);
        print();
    }

    private void parse(int parts) {
        long x = state + 1;
        for (int i = 0; i < parts * PART; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        state = x;
    }

    private void check(int parts) {
        long x = state + 3;
        for (int i = 0; i < parts * PART; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        state = x;
    }

    private void price(int parts) {
        long x = state + 5;
        for (int i = 0; i < parts * PART; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        state = x;
    }

    private void pack(int parts) {
        long x = state + 7;
        for (int i = 0; i < parts * PART; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        state = x;
    }

    private void route(int parts) {
        long x = state + 9;
        for (int i = 0; i < parts * PART; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        state = x;
    }

    private void label(int parts) {
        long x = state + 11;
        for (int i = 0; i < parts * PART; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        state = x;
    }

    private void audit(int parts) {
        long x = state + 13;
        for (int i = 0; i < parts * PART; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        state = x;
    }

    private void find() {
        int sum = 0;
        for (int i = 0; i < 400; i++) {
            sum += stock.get("article-" + (i + (int) (state & 63)));
        }
        state += sum;
    }

    private void sort() {
        Integer[] numbers = new Integer[300];
        Random random = new Random(state);
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = random.nextInt();
        }
        Arrays.sort(numbers);
        state += numbers[7];
    }

    private void print() {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            lines.add(i + ": " + (state >>> i % 60));
        }
        state += String.join("\n", lines).hashCode();
    }
}
