package selftest;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a program of known truth has measured itself: sums by name, of how many parts each is made, and how long the
 * thread waited for a CPU meanwhile.
 */
final class Truth {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private final Map<String, long[]> sums = new TreeMap<>();

    /** CPU time of the calling thread, ns. */
    static long cpu() {
        return THREADS.getCurrentThreadCpuTime();
    }

    void add(String name, long value, long parts) {
        add(name, value, parts, 0);
    }

    synchronized void add(String name, long value, long parts, long delay) {
        long[] sum = sums.get(name);
        if (sum == null) {
            sum = new long[3];
            sums.put(name, sum);
        }
        sum[0] += value;
        sum[1] += parts;
        sum[2] += delay;
    }

    /** A line each: "TRUTH name value parts delay". */
    synchronized void print() {
        for (Map.Entry<String, long[]> e : sums.entrySet()) {
            long[] sum = e.getValue();
            System.out.println("TRUTH " + e.getKey() + " " + sum[0] + " " + sum[1] + " " + sum[2]);
        }
    }
}
