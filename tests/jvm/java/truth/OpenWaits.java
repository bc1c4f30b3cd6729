package truth;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import jstrobe.context.SampleContext;

/**
 * Waits that begin at "begin" and do not end before "end", N of each kind (argument 0): for a monitor, for a lock, in
 * Object.wait, parked without a lock. Argument 1: "platform", or "virtual" for waiters that are virtual threads. Argument
 * 2, "context": each waiter says what it works for, the Nth one of all the span N. Counters: came (all that are about to
 * wait), since (nanoTime of the last one), ended; gauge now.
 */
public final class OpenWaits {
    private static final Object MONITOR = new Object(), SIGNAL = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Queue<Thread> PARKED = new ConcurrentLinkedQueue<>();
    private static boolean contexts;
    private static long spans;

    private OpenWaits() {
    }

    private static void untilEnd() {
        while (!Program.ending && !Program.stopping) {
            Program.sleep(5);
        }
    }

    private static void holds(CountDownLatch held) {
        synchronized (MONITOR) {
            LOCK.lock();
            held.countDown();
            untilEnd();
            LOCK.unlock();
        }
        synchronized (SIGNAL) {
            SIGNAL.notifyAll();
        }
        PARKED.forEach(LockSupport::unpark);
    }

    static void monitor() {
        came();
        synchronized (MONITOR) {
            Program.sink++;
        }
    }

    static void lock() {
        came();
        LOCK.lock();
        LOCK.unlock();
    }

    static void waits() {
        came();
        synchronized (SIGNAL) {
            while (!Program.ending && !Program.stopping) {
                try {
                    SIGNAL.wait();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }

    static void parks() {
        PARKED.add(Thread.currentThread());
        came();
        while (!Program.ending && !Program.stopping) {
            LockSupport.park();
        }
    }

    private static void untilEnded(Runnable waits) {
        waits.run();
        Program.count("ended", 1);
    }

    private static void inContext(long span, Runnable waits) {
        SampleContext.set(1, 2, span);
        waits.run();
        SampleContext.clear();
    }

    private static void came() {
        Program.set("since", System.nanoTime());
        Program.count("came", 1);
    }

    private static void start(boolean virtually, String name, Runnable waits) throws Exception {
        long span = ++spans;
        Runnable body = () -> untilEnded(contexts ? () -> inContext(span, waits) : waits);
        if (!virtually) {
            Program.thread(name, body);
            return;
        }
        Class<?> builders = Class.forName("java.lang.Thread$Builder");
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        builder = builders.getMethod("name", String.class).invoke(builder, name);
        builders.getMethod("start", Runnable.class).invoke(builder, body);
    }

    private static void begin(int n, boolean virtually) {
        while (!Program.begun && !Program.stopping) {
            Program.sleep(1);
        }
        try {
            for (int i = 0; i < n; i++) {
                // before JDK 24 one that waits for a monitor keeps its carrier
                start(false, "open-monitor-" + i, OpenWaits::monitor);
                start(virtually, "open-lock-" + i, OpenWaits::lock);
                start(false, "open-wait-" + i, OpenWaits::waits);
                start(virtually, "open-park-" + i, OpenWaits::parks);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        contexts = args.length > 2;
        CountDownLatch held = new CountDownLatch(1);
        Program.count("came", 0);
        Program.count("since", 0);
        Program.count("ended", 0);
        Program.gauge("now", System::nanoTime);
        Program.thread("the-holder", () -> holds(held));
        held.await();
        Program.thread("beginner", () -> begin(n, args[1].equals("virtual")));
        Program.serve();
    }
}
