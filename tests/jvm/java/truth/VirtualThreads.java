package truth;

import java.lang.reflect.Method;

/**
 * Virtual threads (JDK 21+, reached by reflection), each with its own method chain
 * outer → inner → burn, which also sleeps between bursts, so that they get unmounted.
 */
public final class VirtualThreads {
    public static void main(String[] args) throws Exception {
        int threads = args.length > 0 ? Integer.parseInt(args[0]) : 8;
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        Method name = type.getMethod("name", String.class), start = type.getMethod("start", Runnable.class);
        for (int i = 0; i < threads; i++) {
            start.invoke(name.invoke(builder, "virtual-" + i), (Runnable) VirtualThreads::outer);
        }
        Program.serve();
    }

    private static void outer() {
        while (!Program.stopping) {
            inner(5);
            Program.sleep(1);
        }
    }

    private static void inner(int bursts) {
        for (int i = 0; i < bursts; i++) {
            burn();
        }
    }

    private static void burn() {
        for (int i = 0; i < 100; i++) {
            Program.sink = Program.work(10_000);
        }
    }
}
