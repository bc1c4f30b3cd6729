package api;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * Calls native methods as it reads from stdin, a line each: NAME METHOD ARGUMENTS. NAME is an object of a class that
 * was loaded by "NAME new CLASS PLACE [GET]", by a loader of its own. Texts are Base64, null is "-". Answers with "= RESULT"
 * or "! EXCEPTION MESSAGE".
 */
public final class Main {
    private static final Map<String, Object> objects = new HashMap<>();
    private static final Map<String, Thread> threads = new HashMap<>();
    private static volatile double sink;

    /** Uses CPU time under a name of its own. */
    static void burn() {
        double x = 1;
        for (int i = 0; i < 100000; i++)
            x += Math.sqrt(x);
        sink = x;
    }

    static void burnFirst() {
        burn();
    }

    static void burnSecond() {
        burn();
    }

    private static Thread burner(String name, Runnable body) {
        Thread thread = new Thread(() -> {
            while (true)
                body.run();
        }, name);
        thread.setDaemon(true);
        threads.put(name, thread);
        return thread;
    }

    private static String text(String word) {
        /* also what is no text: halves of surrogate pairs */
        if (word.equals("+"))
            return "";
        return word.equals("-") ? null : ByteBuffer.wrap(Base64.getDecoder().decode(word)).order(
            ByteOrder.LITTLE_ENDIAN).asCharBuffer().toString();
    }

    private static String show(Object result) {
        if (result == null)
            return "-";
        byte[] bytes = result instanceof byte[] ? (byte[]) result : result.toString().getBytes(StandardCharsets.UTF_8);
        return "+" + Base64.getEncoder().encodeToString(bytes);
    }

    private static Object argument(Class<?> type, String word) {
        if (type == String.class)
            return text(word);
        if (type == long.class)
            return Long.valueOf(word);
        if (type == boolean.class)
            return Boolean.valueOf(word);
        return threads.get(word);
    }

    private static Object call(Object on, String name, String[] words, int from) throws Throwable {
        for (Method method : (on instanceof Class ? (Class<?>) on : on.getClass()).getDeclaredMethods()) {
            Class<?>[] types = method.getParameterTypes();
            if (!method.getName().equals(name) || types.length != words.length - from)
                continue;
            Object[] arguments = new Object[types.length];
            for (int i = 0; i < types.length; i++)
                arguments[i] = argument(types[i], words[from + i]);
            method.setAccessible(true);
            try {
                return method.invoke(on instanceof Class ? null : on, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
        throw new NoSuchMethodException(name);
    }

    /** By the static method GET, if there is one to call. */
    private static void make(String name, String className, String place, String get) throws Throwable {
        URL[] urls = {new File(place).toURI().toURL()};
        Class<?> c = new URLClassLoader(urls, ClassLoader.getSystemClassLoader().getParent()).loadClass(className);
        objects.put(name, get == null ? c.getDeclaredConstructor().newInstance() : call(c, get, new String[0], 0));
    }

    /** Threads that all call at the same time; how many were not refused. */
    private static int together(String name, int count, String method, String[] words) throws Exception {
        CountDownLatch ready = new CountDownLatch(count), go = new CountDownLatch(1);
        Thread[] callers = new Thread[count];
        int[] done = new int[count];
        for (int i = 0; i < count; i++) {
            int number = i;
            callers[i] = new Thread(() -> {
                try {
                    ready.countDown();
                    go.await();
                    call(objects.get(name), method, Arrays.copyOfRange(words, 4, words.length), 0);
                    done[number] = 1;
                } catch (IllegalStateException e) {
                    done[number] = 0;
                } catch (Throwable e) {
                    done[number] = 1000;
                }
            });
            callers[i].start();
        }
        ready.await();
        go.countDown();
        int sum = 0;
        for (int i = 0; i < count; i++) {
            callers[i].join();
            sum += done[i];
        }
        return sum;
    }

    private static ClassLoader loaderOf(String name) {
        return objects.get(name).getClass().getClassLoader();
    }

    /** Spans of that tag by its loader's class; how long one took, in ns. */
    private static long spans(Class<?> span, String tag, int count) throws Throwable {
        Method start = span.getMethod("start"), end = span.getMethod("end", long.class, String.class);
        long began = System.nanoTime();
        for (int i = 0; i < count; i++)
            end.invoke(null, start.invoke(null), text(tag));
        return (System.nanoTime() - began) / count;
    }

    private static Object carryOut(String[] words) throws Throwable {
        switch (words[1]) {
        case "new":
            make(words[0], words[2], words[3], words.length > 4 ? words[4] : null);
            return "";
        case "forget":
            objects.remove(words[0]);
            System.gc();
            return "";
        case "gone": /* whether its class loader is collected */
            WeakReference<ClassLoader> loader = new WeakReference<>(loaderOf(words[0]));
            objects.remove(words[0]);
            for (int i = 0; i < 100 && loader.get() != null; i++) {
                System.gc();
                Thread.sleep(50);
            }
            return loader.get() == null;
        case "span": /* TAG COUNT */
            return spans(loaderOf(words[0]).loadClass("one.profiler.Span"), words[2], Integer.parseInt(words[3]));
        case "load":
        case "loadByRuntime":
            return call(objects.get(words[0]).getClass(), words[1], words, 2);
        case "together":
            return together(words[0], Integer.parseInt(words[2]), words[3], words);
        case "long": /* METHOD of so many characters */
            char[] chars = new char[Integer.parseInt(words[3])];
            Arrays.fill(chars, 'x');
            return call(objects.get(words[0]), words[2], new String[] {
                Base64.getEncoder().encodeToString(new String(chars).getBytes(StandardCharsets.UTF_16LE))}, 0);
        case "run":
            Thread.sleep(Long.parseLong(words[2]));
            return "";
        default:
            return call(objects.get(words[0]), words[1], words, 2);
        }
    }

    public static void main(String[] args) throws Exception {
        burner("first", Main::burnFirst).start();
        burner("second", Main::burnSecond).start();
        burner("new", Main::burn);
        threads.put("ended", new Thread(() -> { }));
        threads.get("ended").start();
        threads.get("ended").join();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null;) {
            try {
                System.out.println("= " + show(carryOut(line.split(" "))));
            } catch (Throwable e) {
                System.out.println("! " + e.getClass().getName() + " " + show(e.getMessage()));
            }
        }
        System.exit(0);
    }
}
