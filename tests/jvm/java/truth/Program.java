package truth;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * What all programs of known truth share: clocks, counters, and the conversation with the test.
 *
 * A program starts its threads and calls serve(). That prints READY and then answers lines on
 * stdin: "mark" prints "MARK name=value ..." with all counters and gauges, "reset" forgets the counters, "gc" collects
 * garbage, "begin" sets `begun`, "end" sets `ending`, "stop" or the end of stdin ends the program (so none outlives its
 * test).
 */
public final class Program {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Map<String, AtomicLong> COUNTERS = new ConcurrentHashMap<>();
    private static final Map<String, LongSupplier> GAUGES = new ConcurrentHashMap<>();
    public static volatile boolean stopping;
    public static volatile boolean begun; // "begin" was said
    public static volatile boolean ending; // "end" was said
    public static volatile long sink;
    /** Another program has called main(): it converses, serve() returns at once. */
    static boolean hosted;

    private Program() {
    }

    /** CPU time of the calling thread, ns. */
    public static long cpu() {
        return THREADS.getCurrentThreadCpuTime();
    }

    public static void count(String name, long value) {
        COUNTERS.computeIfAbsent(name, key -> new AtomicLong()).addAndGet(value);
    }

    public static void set(String name, long value) {
        COUNTERS.computeIfAbsent(name, key -> new AtomicLong()).set(value);
    }

    /** Keep the largest VALUE seen under NAME. */
    public static void max(String name, long value) {
        COUNTERS.computeIfAbsent(name, key -> new AtomicLong()).accumulateAndGet(value, Math::max);
    }

    /** What VALUE returns at each "mark", from the first on; "reset" does not forget it. */
    public static void gauge(String name, LongSupplier value) {
        GAUGES.put(name, value);
    }

    /** A daemon thread with a name, started. */
    public static Thread thread(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** What a program does until it is told to stop. */
    interface Body {
        void run() throws Exception;
    }

    /** Run BODY in a thread called NAME, and converse once it is warm. */
    static void run(String name, Body body) throws Exception {
        thread(name, () -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        warm();
        serve();
    }

    /** Wait until the program has used 3 s of CPU time, or 6 s have passed: on a busy machine it becomes warm later. */
    static void warm() throws InterruptedException {
        java.lang.management.OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
        com.sun.management.OperatingSystemMXBean process = (com.sun.management.OperatingSystemMXBean) system;
        long end = System.nanoTime() + 12_000_000_000L, idle = System.nanoTime() + 4_000_000_000L;
        while (process.getProcessCpuTime() < 3_000_000_000L && System.nanoTime() < end) {
            Thread.sleep(100);
            if (System.nanoTime() > idle && process.getProcessCpuTime() < 800_000_000L) {
                return; // it does not work much
            }
        }
    }

    public static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * The time of day at nanoTime() 0, ns since 1970: read just as a millisecond begins. A thread that loses its CPU
     * there reads too late, never too early.
     */
    public static long epoch() {
        long latest = Long.MIN_VALUE;
        for (int i = 0; i < 20; i++) {
            long now = System.currentTimeMillis(), next = now;
            while (next == now) {
                next = System.currentTimeMillis();
            }
            latest = Math.max(latest, next * 1_000_000 - System.nanoTime());
        }
        return latest;
    }

    /** Work that no compiler takes away: about 1.5 ns a round. */
    public static long work(int rounds) {
        long x = sink | 1;
        for (int i = 0; i < rounds; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    /** The bytes of the class file NAME that lies beside this one. */
    static byte[] classFile(String name) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (InputStream in = Program.class.getResourceAsStream(name)) {
            for (int b = in.read(); b >= 0; b = in.read()) {
                out.write(b);
            }
        }
        return out.toByteArray();
    }

    public static void serve() throws Exception {
        if (hosted) {
            return;
        }
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            if (line.equals("mark")) {
                StringBuilder all = new StringBuilder("MARK");
                COUNTERS.forEach((name, value) -> all.append(' ').append(name).append('=').append(value));
                GAUGES.forEach((name, value) -> all.append(' ').append(name).append('=').append(value.getAsLong()));
                System.out.println(all);
            } else if (line.equals("reset")) {
                COUNTERS.clear();
                System.out.println("MARK");
            } else if (line.equals("begin")) {
                begun = true;
            } else if (line.equals("end")) {
                ending = true;
            } else if (line.equals("gc")) {
                System.gc();
                System.out.println("MARK");
            }
        }
        stopping = true;
        System.exit(0);
    }
}
