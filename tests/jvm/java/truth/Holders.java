package truth;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Holders that live as long as they hold: each comes, takes the monitor (or the lock, argument 0: "monitor" or "lock"),
 * keeps it for argument 1 milliseconds while the waiter comes for it, lets it go and ends. Argument 2: "platform" or
 * "virtual" holders. Argument 3: how often each holds it, 1; the waiter comes each time. Their names are "brief-N".
 * Counter waits: of the waiter.
 */
public final class Holders {
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final AtomicInteger HELD = new AtomicInteger();
    private static volatile int came;
    private static int times = 1;

    private Holders() {
    }

    private static void holdMonitor(int number, long ms) {
        synchronized (MONITOR) {
            HELD.set(number);
            Program.sleep(ms);
        }
    }

    private static void holdLock(int number, long ms) {
        LOCK.lock();
        try {
            HELD.set(number);
            Program.sleep(ms);
        } finally {
            LOCK.unlock();
        }
    }

    private static void hold(boolean monitor, int first, long ms) {
        for (int number = first; number < first + times; number++) {
            if (monitor) {
                holdMonitor(number, ms);
            } else {
                holdLock(number, ms);
            }
            while (number + 1 < first + times && came != number && !Program.stopping) {
                Thread.yield();
            }
        }
    }

    private static void come(boolean monitor) {
        Program.count("waits", 1);
        if (monitor) {
            synchronized (MONITOR) {
                Program.sink++;
            }
        } else {
            LOCK.lock();
            LOCK.unlock();
        }
    }

    private static Thread start(boolean virtually, String name, Runnable body) throws Exception {
        if (!virtually) {
            return Program.thread(name, body);
        }
        Class<?> builders = Class.forName("java.lang.Thread$Builder");
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        builder = builders.getMethod("name", String.class).invoke(builder, name);
        return (Thread) builders.getMethod("start", Runnable.class).invoke(builder, body);
    }

    private static void waiter(boolean monitor, long ms, boolean virtually) {
        for (int mine = 1; !Program.stopping; mine++) {
            int first = mine * times;
            try {
                start(virtually, "brief-" + mine, () -> hold(monitor, first, ms));
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            for (int number = first; number < first + times; number++) {
                while (HELD.get() != number && !Program.stopping) {
                    Thread.yield();
                }
                come(monitor);
                came = number;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Program.count("waits", 0);
        times = args.length > 3 ? Integer.parseInt(args[3]) : 1;
        Program.thread("the-waiter", () -> waiter(args[0].equals("monitor"), Long.parseLong(args[1]),
                                                  args[2].equals("virtual")));
        Program.serve();
    }
}
