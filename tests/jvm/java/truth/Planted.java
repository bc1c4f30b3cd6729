package truth;

import java.io.FileInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/**
 * Programs with one trouble each, named by the argument: what a finding has to name first. Beside it each does the same
 * small work in several methods, so that the trouble is not all there is.
 */
public final class Planted {
    private Planted() {
    }

    // ---- the work beside ----

    /** About 30 us, in eight methods. */
    private static void beside() {
        Program.sink += Sound.all(800);
    }

    // ---- troubles ----

    private static long checksum(byte[] bytes) {
        long sum = 1;
        for (byte b : bytes) {
            sum = sum * 0x9E3779B97F4A7C15L + b;
            sum ^= sum >>> 29;
        }
        return sum;
    }

    private static void hot() {
        byte[] bytes = new byte[200_000];
        while (!Program.stopping) {
            Program.sink += checksum(bytes);
            beside();
        }
    }

    private static boolean accept(String text) {
        return text.matches("([a-z]+=[0-9]+;)*[a-z]+");
    }

    private static void regex() {
        StringBuilder tail = new StringBuilder();
        while (tail.length() < 64) {
            tail.append("abcdefgh");
        }
        while (!Program.stopping) {
            for (int i = 0; i < 100; i++) {
                Program.sink += accept("first=1;second=22;third=333;fourth=4444;" + tail) ? 1 : 0;
            }
            beside();
        }
    }

    private static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static int deep(int n, String text) {
        return n == 0 ? number(text) : deep(n - 1, text) + 1;
    }

    private static void exceptions() {
        while (!Program.stopping) {
            for (int i = 0; i < 40; i++) {
                Program.sink += deep(20, "n/a");
            }
            beside();
        }
    }

    private static String describe(int i) {
        return String.format("%08d %-12s %10.3f", i, "item", i / 7.0);
    }

    private static void format() {
        while (!Program.stopping) {
            for (int i = 0; i < 100; i++) {
                Program.sink += describe(i).length();
            }
            beside();
        }
    }

    private static final SecureRandom RANDOM = new SecureRandom();

    private static long token() {
        byte[] bytes = new byte[32];
        RANDOM.nextBytes(bytes);
        return bytes[0];
    }

    private static void random() {
        while (!Program.stopping) {
            for (int i = 0; i < 60; i++) {
                Program.sink += token();
            }
            beside();
        }
    }

    /** Trees that live for some time in a heap that they nearly fill. */
    private static Object grow(int depth) {
        return depth == 0 ? new byte[16] : new Object[] {grow(depth - 1), grow(depth - 1)};
    }

    private static void gc() {
        Object[] trees = new Object[8];
        for (int i = 0; !Program.stopping; i++) {
            trees[i % trees.length] = grow(16);
            beside();
        }
    }

    private static void idle() {
        while (!Program.stopping) {
            LockSupport.parkNanos(20_000_000);
            beside();
        }
    }

    private static final class Account {
        long sum;

        synchronized void book(int n) {
            sum += Sound.all(n);
        }
    }

    private static void lock() {
        Account account = new Account();
        for (int i = 0; i < 5; i++) {
            Program.thread("teller-" + i, () -> {
                while (!Program.stopping) {
                    account.book(400_000); // for some milliseconds: less is a convoy (truth.Convoys)
                    LockSupport.parkNanos(200_000);
                }
            });
        }
    }

    private static void crowd() {
        for (int i = 0; i < 6; i++) {
            Program.thread("crowd-" + i, () -> {
                while (!Program.stopping) {
                    beside();
                }
            });
        }
    }

    private static void bytes() throws Exception {
        Path file = Files.createTempFile("planted", ".bin");
        Files.write(file, new byte[1 << 20]);
        try {
            while (!Program.stopping) {
                try (InputStream in = new FileInputStream(file.toFile())) {
                    while (in.read() >= 0 && !Program.stopping) {
                        Program.sink++;
                    }
                }
            }
        } finally {
            Files.delete(file);
        }
    }

    private static volatile int[] copied; // so that it is made at all

    private static int[] copy(int n) {
        return new int[n];
    }

    private static void garbage() {
        while (!Program.stopping) {
            for (int i = 0; i < 200; i++) {
                copied = copy(2000);
            }
            Program.sink += new StringBuilder("text").append(Program.sink).length();
            beside();
        }
    }

    private static final Map<String, byte[]> CACHE = new HashMap<>();

    private static void remember(int i) {
        CACHE.put("key-" + i, new byte[2000]);
    }

    private static void leak() {
        for (int i = 0; !Program.stopping; i++) {
            remember(i);
            Program.sink += new byte[4000].length;
            beside();
            LockSupport.parkNanos(200_000);
        }
    }

    private static void threads() throws Exception {
        while (!Program.stopping) {
            Thread t = new Thread(Planted::beside);
            t.start();
            t.join();
        }
    }

    /** Each loader loads its own copies of some classes of this program. */
    private static final class Loader extends ClassLoader {
        Class<?> load(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    private static void classes() throws Exception {
        List<byte[]> files = new ArrayList<>();
        String[] names = {"truth.Planted$Account", "truth.Planted$Part"};
        for (String name : names) {
            java.net.URL file = Planted.class.getResource("/" + name.replace('.', '/') + ".class");
            files.add(Files.readAllBytes(java.nio.file.Paths.get(file.toURI())));
        }
        while (!Program.stopping) {
            for (int i = 0; i < names.length; i++) {
                Program.sink += new Loader().load(names[i], files.get(i)).getDeclaredMethods().length;
            }
        }
    }

    /** A class with something in it to be parsed. */
    static final class Part {
        private static final Pattern PATTERN = Pattern.compile("a+b");

        String name(int i) {
            switch (i) {
                case 1: return "one";
                case 2: return "two";
                case 3: return "three";
                default: return PATTERN.matcher("aab").matches() ? "ab" : "none";
            }
        }

        long sum(int[] values) {
            long sum = 0;
            for (int value : values) {
                sum += value > 3 ? value * 2L : -value;
            }
            return sum;
        }
    }

    private static int[] values; // of this trouble alone: others have small heaps

    /** A counted loop: with LoopStripMiningIter=0 and -UseCountedLoopSafepoints its code asks for no safepoint. */
    private static int counted() {
        int sum = 0;
        for (int i = 0; i < values.length; i++) {
            sum += values[i] ^ i * 31 + sum / (values[i & 1023] + 3);
        }
        return sum;
    }

    private static void late() {
        values = new int[1 << 24];
        Program.thread("dumper", () -> {
            while (!Program.stopping) {
                Program.sink += Thread.getAllStackTraces().size();
                Program.sleep(5);
            }
        });
        while (!Program.stopping) {
            Program.sink += counted();
            beside();
        }
    }

    private static Program.Body body(String name) {
        switch (name) {
            case "hot": return Planted::hot;
            case "regex": return Planted::regex;
            case "exceptions": return Planted::exceptions;
            case "format": return Planted::format;
            case "random": return Planted::random;
            case "gc": return Planted::gc;
            case "idle": return Planted::idle;
            case "lock": return Planted::lock;
            case "crowd": return Planted::crowd;
            case "bytes": return Planted::bytes;
            case "garbage": return Planted::garbage;
            case "leak": return Planted::leak;
            case "threads": return Planted::threads;
            case "classes": return Planted::classes;
            case "late": return Planted::late;
            default: throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] args) throws Exception {
        Program.run("planted", body(args[0]));
    }
}
