package truth;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Work of every kind, run instruction by instruction in bursts (tests/jvm/step/step.c). Arguments: the
 * library, seconds, instructions of a burst, kinds of work joined by + (or all).
 */
public final class Stepped {
    interface Work {
        long once(int i) throws Exception;
    }

    private static final Map<String, Work> KINDS = new HashMap<>();
    private static final Random RANDOM = new Random(1);

    static native int join();

    static native void leave();

    static native void poke(int index, int count);

    static native long figure(int which);

    static native void report();

    // ---- calls of every kind ----

    interface Shape {
        long area(int x);
    }

    abstract static class Base implements Shape {
        abstract long side(int x);

        long twice(int x) {
            return side(x) * 2;
        }
    }

    static final class One extends Base {
        public long area(int x) { return side(x) + 1; }

        long side(int x) { return x ^ 1; }
    }

    static final class Two extends Base {
        public long area(int x) { return side(x) + 2; }

        long side(int x) { return x ^ 2; }
    }

    static final class Three extends Base {
        public long area(int x) { return deeper(x, 3); }

        long side(int x) { return x ^ 3; }

        private long deeper(int x, int n) { return n == 0 ? side(x) : deeper(x, n - 1) + 1; }
    }

    static final class Four extends Base {
        public synchronized long area(int x) { return side(x) + 4; }

        synchronized long side(int x) { return x ^ 4; }
    }

    private static final Base[] SHAPES = {new One(), new Two(), new Three(), new Four()};

    private static long many(int a, long b, int c, double d, Object e, int f, long g, int h, int i, int j) {
        return a + b + c + (long) d + e.hashCode() + f + g + h + i + j;
    }

    private static long calls(int i) {
        long sum = 0;
        for (int k = 0; k < 100; k++) {
            Base shape = SHAPES[(i + k) & 3];
            sum += shape.side(k) + shape.twice(k);
            Shape face = SHAPES[(i + 3 * k) & 3];
            sum += face.area(k);
            sum += many(k, i, k, 1.5, "x", k, k, k, k, i);
        }
        return sum;
    }

    private static volatile Object kept;

    private static long recursion(int i) {
        return down(200 + (i & 63)) + quick(i, 12);
    }

    private static int down(int left) {
        return left > 0 ? down(left - 1) + 1 : (int) (Program.sink & 7);
    }

    private static long quick(int i, int left) {
        return left <= 1 ? i : quick(i, left - 1) + quick(i + 1, left - 2);
    }

    private static long strings(int i) {
        StringBuilder text = new StringBuilder();
        for (int k = 0; k < 60; k++) {
            text.append("item ").append(k).append(", ").append(k * 0.5).append(';').append((char) (k & 0xff));
        }
        String all = text.toString(), wide = all + "\u4e2d\u6587" + i;
        long sum = all.hashCode() + text.indexOf("item 59") + all.indexOf(";4") + all.lastIndexOf("item");
        sum += all.indexOf("item 30, 15.0;") + wide.indexOf("\u6587") + wide.indexOf("item 59, 29") + wide.indexOf("zz");
        sum += all.compareTo(wide) + wide.compareTo(all) + wide.compareTo(wide.substring(1)) + all.compareTo(all.substring(3));
        sum += all.equals(wide) ? 1 : 0;
        sum += all.equalsIgnoreCase(all.toUpperCase()) ? 1 : 0;
        sum += all.replace("item", "thing").length() + all.trim().length() + wide.toLowerCase().length();
        sum += all.startsWith("item 0") && all.endsWith(";") ? 1 : 0;
        sum += all.getBytes(StandardCharsets.UTF_8).length + new String(wide.getBytes(StandardCharsets.UTF_16LE),
            StandardCharsets.UTF_16LE).length();
        sum += all.getBytes(StandardCharsets.ISO_8859_1).length + (all.contains("nothing of it") ? 1 : 0);
        return sum + String.valueOf(i).length() + all.split(";").length + all.chars().sum() + all.charAt(i % all.length());
    }

    private static long arrays(int i) throws Exception {
        byte[] bytes = new byte[700 + (i & 255)];
        int[] ints = new int[300];
        long[] longs = new long[100];
        Object[] objects = new Object[80];
        char[] chars = new char[200];
        RANDOM.nextBytes(bytes);
        for (int k = 0; k < ints.length; k++) {
            ints[k] = bytes[k] * k;
        }
        System.arraycopy(bytes, 3, bytes, 10, bytes.length - 20);
        System.arraycopy(ints, 0, ints, 1, ints.length - 1);
        System.arraycopy(longs, 1, longs, 0, longs.length - 1);
        Arrays.fill(objects, i & 1, objects.length, "filled");
        Object[] copy = Arrays.copyOf(objects, 100, String[].class);
        System.arraycopy(objects, 0, copy, 5, 60);
        System.arraycopy(copy, 0, copy, 1, 60);
        try {
            Object[] mixed = new Object[] {"a", "b", i, "c"};
            System.arraycopy(mixed, 0, copy, 0, 4);
        } catch (ArrayStoreException e) {
            Program.sink++;
        }
        Arrays.fill(bytes, 5, 300, (byte) i);
        Arrays.fill(chars, 'x');
        int[] sorted = ints.clone();
        Arrays.sort(sorted);
        long[][] nested = new long[3][5];
        CRC32 crc = new CRC32();
        crc.update(bytes, 0, bytes.length);
        kept = nested;
        kept = copy;
        return Arrays.hashCode(bytes) + (Arrays.equals(ints, sorted) ? 1 : 0) + crc.getValue()
            + Arrays.binarySearch(sorted, i) + new String(chars).hashCode() + Arrays.hashCode(ints)
            + Base64.getEncoder().encodeToString(bytes).length()
            + java.security.MessageDigest.getInstance(i % 2 == 0 ? "SHA-256" : "MD5").digest(bytes)[0];
    }

    private static long numbers(int i) {
        BigInteger big = BigInteger.valueOf(i + 12345678901234567L).pow(9);
        double x = Math.sin(i) + Math.cos(i) + Math.tan(i) + Math.log(i + 1.0) + Math.log10(i + 2.0) + Math.exp(i % 10)
            + Math.pow(i, 1.7) + Math.sqrt(i) + (float) i % 3.0f + (double) i % 7.0 + (int) (i * 1e30) + (long) (i * 1e30f);
        return big.multiply(big).mod(BigInteger.valueOf(1000003)).longValue() + (long) x
            + big.modPow(BigInteger.valueOf(77), BigInteger.valueOf(1000003).pow(5)).intValue()
            + Long.parseLong(Long.toString(i * 77L)) + Integer.toHexString(i).length() + Double.toString(x).length();
    }

    private static long exceptions(int i) {
        long caught = 0;
        for (int k = 0; k < 8; k++) {
            try {
                caught += thrower(k, i, null);
            } catch (NullPointerException e) {
                caught += 1;
            } catch (ArithmeticException | ArrayIndexOutOfBoundsException e) {
                caught += 2;
            } catch (ClassCastException | IllegalStateException e) {
                caught += 3;
            } catch (RuntimeException e) {
                caught += e.getMessage().length();
            }
        }
        return caught;
    }

    private static long thrower(int kind, int i, Object nothing) {
        int[] few = new int[2];
        Object text = "text";
        switch (kind) {
            case 0: return nothing.hashCode();
            case 1: return i / (few[0]);
            case 2: return few[i | 2];
            case 3: return (Integer) text;
            case 4: throw new IllegalStateException();
            case 5: return rethrow(i);
            case 6: return locked(i);
            default: return i;
        }
    }

    private static long rethrow(int i) {
        try {
            return deepThrow(5, i);
        } finally {
            Program.sink++;
        }
    }

    private static long deepThrow(int left, int i) {
        if (left == 0) {
            throw new UnsupportedOperationException("deep");
        }
        return deepThrow(left - 1, i) + 1;
    }

    private static long locked(int i) {
        synchronized (SHAPES) {
            if (i % 2 == 0) {
                throw new UnsupportedOperationException("locked");
            }
            return i;
        }
    }

    private static final Map<Object, Object> SHARED = new ConcurrentHashMap<>();
    private static final AtomicLong ATOMIC = new AtomicLong();

    private static long collections(int i) throws Exception {
        Map<Integer, byte[]> map = new HashMap<>();
        List<String> list = new ArrayList<>();
        for (int k = 0; k < 60; k++) {
            map.put(k * i, new byte[k]);
            list.add("s" + (k ^ i));
            SHARED.put(k & 15, list);
            ATOMIC.addAndGet(k);
        }
        Collections.sort(list);
        list.sort(Comparator.comparing(String::length).thenComparing(Comparator.reverseOrder()));
        Function<String, String> twice = w -> w + w;
        IntUnaryOperator add = x -> x + i;
        kept = map;
        List<Object> iterated = new ArrayList<>(SHARED.values());
        return map.hashCode() + list.stream().filter(w -> w.length() > 2).map(twice).map(String::toUpperCase).sorted()
            .collect(Collectors.joining(",")).hashCode() + add.andThen(x -> 2 * x).applyAsInt(i) + iterated.size()
            + Arrays.asList(1, 2, 3, i).stream().mapToInt(Integer::intValue).sum();
    }

    private static final Pattern DATE = Pattern.compile("(\\d{4})-(\\d\\d)-(\\d\\d)|([a-z]+)@([a-z.]+)");

    private static long natives(int i) throws Exception {
        Matcher matcher = DATE.matcher("on 2026-11-21 operator@example.org wrote 1999-12-31 words 12-34 x@ @y");
        long found = 0;
        while (matcher.find()) {
            found += matcher.group().length();
        }
        Deflater deflater = new Deflater();
        byte[] out = new byte[300];
        deflater.setInput(new byte[200]);
        deflater.finish();
        found += deflater.deflate(out);
        deflater.end();
        found += System.nanoTime() + System.identityHashCode(out) + Thread.currentThread().getName().length();
        Class<?> type = i % 3 == 0 ? One.class : i % 3 == 1 ? Two.class : String.class;
        found += type.isInstance(SHAPES[i & 3]) ? 1 : 0;
        found += Base.class.isAssignableFrom(type) ? 1 : 0;
        java.lang.reflect.Method method = Stepped.class.getDeclaredMethod("target", int.class);
        found += (Long) method.invoke(null, i);
        Object array = java.lang.reflect.Array.newInstance(type, 3);
        found += java.lang.reflect.Array.getLength(array);
        new Object().hashCode();
        synchronized (array) {
            array.notifyAll();
        }
        if (i % 8 == 0) {
            Thread.yield();
            found += new Throwable().getStackTrace().length;
        }
        return found;
    }

    private static long target(int i) {
        return i + 1;
    }

    private static Work kind(String name) {
        switch (name) {
            case "calls": return Stepped::calls;
            case "recursion": return Stepped::recursion;
            case "strings": return Stepped::strings;
            case "arrays": return Stepped::arrays;
            case "numbers": return Stepped::numbers;
            case "exceptions": return Stepped::exceptions;
            case "collections": return Stepped::collections;
            case "natives": return Stepped::natives;
            default: throw new IllegalArgumentException(name);
        }
    }

    private static void forever(Work work, int[] index, int at) {
        index[at] = join();
        try {
            for (int i = 0; !Program.stopping; i++) {
                Program.sink += work.once(i);
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
        leave();
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        String all = "calls+recursion+strings+arrays+numbers+exceptions+collections+natives";
        String[] names = (args[3].equals("all") ? all : args[3]).split("\\+");
        int[] index = new int[names.length];
        Arrays.fill(index, -1);
        for (int k = 0; k < names.length; k++) {
            int at = k;
            Work work = kind(names[k]);
            Program.thread("step-" + names[k], () -> forever(work, index, at));
        }
        int burst = Integer.parseInt(args[2]);
        long end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
        for (int k = 0; System.nanoTime() < end; k++) {
            if (index[k % index.length] >= 0) {
                poke(index[k % index.length], burst);
            }
            Thread.sleep(1 + (k & 3));
        }
        Program.stopping = true;
        Thread.sleep(300);
        System.out.println("STEPPED steps=" + figure(0) + " judged=" + figure(1) + " wrong=" + figure(2)
            + " short=" + figure(3));
        report();
        System.exit(0);
    }
}
