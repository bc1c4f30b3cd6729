package truth;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Holders that live as long as they hold: each comes, takes the monitor (or the lock, argument 0: "monitor" or "lock"),
 * keeps it until the waiter has come for it and argument 1 milliseconds more, lets it go and ends. Argument 2:
 * "platform" or "virtual" holders. Argument 3: how often each holds it, 1; the waiter comes each time. Their names are
 * "brief-N". Counters "brief-N": how often the waiter waited for that one, as the JVM counts it.
 */
public final class BriefHolders {
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final AtomicInteger HELD = new AtomicInteger();
    private static volatile int came;
    private static volatile Thread waiter;
    private static int times = 1;

    private BriefHolders() {
    }

    private static void keep(int number, long ms, Thread.State coming) {
        HELD.set(number);
        while (waiter.getState() != coming && !Program.stopping) {
            Thread.yield();
        }
        Program.sleep(ms);
    }

    private static void holdMonitor(int number, long ms) {
        synchronized (MONITOR) {
            keep(number, ms, Thread.State.BLOCKED);
        }
    }

    private static void holdLock(int number, long ms) {
        LOCK.lock();
        try {
            keep(number, ms, Thread.State.WAITING);
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
        if (monitor) {
            synchronized (MONITOR) {
                Program.sink++;
            }
        } else {
            LOCK.lock();
            LOCK.unlock();
        }
    }

    /** How often this thread has waited: for a monitor, or parked. */
    private static long waited() {
        ThreadInfo self = ManagementFactory.getThreadMXBean().getThreadInfo(Thread.currentThread().getId());
        return self.getBlockedCount() + self.getWaitedCount();
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
        waiter = Thread.currentThread();
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
                long before = waited();
                come(monitor);
                Program.count("brief-" + mine, waited() - before);
                came = number;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        times = args.length > 3 ? Integer.parseInt(args[3]) : 1;
        Program.thread("the-waiter", () -> waiter(args[0].equals("monitor"), Long.parseLong(args[1]),
                                                  args[2].equals("virtual")));
        Program.serve();
    }
}
