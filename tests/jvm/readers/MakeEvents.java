import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import jdk.jfr.Configuration;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Name;
import jdk.jfr.Recording;

/**
 * FILE: a flight recording of two threads that publish events of their own: orders, which last, of which each tenth
 * is slow and spends its time in slow(); releases, which are moments. The GC runs, and a thread sleeps 400 times.
 */
public final class MakeEvents {
    private static volatile double sink;
    private static volatile Object kept;

    @Name("shop.Order")
    public static final class Order extends Event {
        long bytes;
    }

    @Name("shop.Release")
    public static final class Release extends Event {
    }

    private static void burn(long ms) {
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; ) {
            sink += Math.sin(sink);
        }
    }

    private static void quick() {
        burn(5);
    }

    private static void slow() {
        burn(60);
    }

    private static void serve(int first) {
        for (int i = first; i < first + 40; i++) {
            Order order = new Order();
            order.begin();
            if (i % 10 == 9) {
                slow();
            } else {
                quick();
            }
            order.bytes = 1000;
            order.commit();
            kept = new byte[1 << 20];
        }
    }

    private static void idle() {
        burn(900);
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> settings = new LinkedHashMap<>(Configuration.getConfiguration("profile").getSettings());
        settings.put("jdk.ExecutionSample#period", "5 ms");
        settings.put("jdk.SafepointBegin#threshold", "0 ms");
        settings.put("jdk.ExecuteVMOperation#threshold", "0 ms");
        settings.put("jdk.ThreadSleep#threshold", "0 ms");
        settings.put("jdk.CPULoad#period", "50 ms");
        settings.put("jdk.ClassLoad#enabled", "true");
        settings.put("jdk.ClassLoad#threshold", "0 ms");
        // JDK 17 deadlocks if a thread's first event registers its class while another thread loads a class (the source
        // launcher's loader takes locks of its own, JFR's hook in class loading takes that of its metadata)
        FlightRecorder.register(Order.class);
        FlightRecorder.register(Release.class);
        try (Recording recording = new Recording(settings)) {
            recording.start();
            Thread[] all = {new Thread(() -> serve(0), "orders-1"), new Thread(() -> serve(40), "orders-2"),
                            new Thread(MakeEvents::idle, "beside")};
            for (Thread t : all) {
                t.start();
            }
            new Release().commit();
            for (int i = 0; i < 3; i++) {
                System.gc();
                Thread.sleep(100);
            }
            new Release().commit();
            for (Thread t : all) {
                t.join();
            }
            for (int i = 0; i < 400; i++) {
                Thread.sleep(1);
            }
            recording.dump(Path.of(args[0]));
        }
        System.out.println(Arrays.toString(args) + kept.hashCode());
    }
}
