package truth;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Holders that live as long as they hold: each comes, takes the monitor (or the lock, argument 0: "monitor" or "lock"),
 * keeps it for argument 1 milliseconds while the waiter comes for it, lets it go and ends. Argument 2: "platform" or
 * "virtual" holders. Their names are "brief-N". Counter waits: of the waiter.
 */
public final class Holders {
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final AtomicInteger HELD = new AtomicInteger();

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
        int number = 0;
        while (!Program.stopping) {
            int mine = ++number;
            try {
                start(virtually, "brief-" + mine,
                      monitor ? () -> holdMonitor(mine, ms) : () -> holdLock(mine, ms));
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            while (HELD.get() != mine && !Program.stopping) {
                Thread.yield();
            }
            come(monitor);
        }
    }

    public static void main(String[] args) throws Exception {
        Program.count("waits", 0);
        Program.thread("the-waiter", () -> waiter(args[0].equals("monitor"), Long.parseLong(args[1]),
                                                  args[2].equals("virtual")));
        Program.serve();
    }
}
