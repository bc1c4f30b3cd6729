package truth;

import java.lang.reflect.Method;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Pairs of threads, a holder and a waiter, for each way to wait for a lock. The holder takes the lock, lets the waiter
 * come, keeps it for a while and lets go; the waiter measures how long it took: "WAITED kind from to holder", in ns
 * since 1970. With the argument "virtual" (JDK 21+) both are virtual threads; with "sleep" one more thread sleeps.
 */
public final class Locks {
    private static final long EPOCH = Program.epoch();
    private static boolean virtual;

    /** A lock to be held and waited for. */
    private interface Held {
        void take() throws InterruptedException;

        void give();
    }

    private static Thread start(String name, Runnable body) throws Exception {
        if (!virtual) {
            return Program.thread(name, body);
        }
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        Method named = type.getMethod("name", String.class), start = type.getMethod("start", Runnable.class);
        return (Thread) start.invoke(named.invoke(builder, name), body);
    }

    private static void said(String kind, long from, String holder) {
        long to = System.nanoTime();
        System.out.println("WAITED " + kind + " " + (EPOCH + from) + " " + (EPOCH + to) + " " + holder);
    }

    private static final class Pair {
        final String kind;
        final Held lock;
        final boolean owned;
        volatile boolean held, coming;

        Pair(String kind, boolean owned, Held lock) {
            this.kind = kind;
            this.owned = owned;
            this.lock = lock;
        }

        /** A wait of a millisecond or some, of a different length each time. */
        void hold() {
            for (long i = 0; !Program.stopping; i++) {
                try {
                    lock.take();
                    held = true;
                    while (!coming) {
                        Program.sleep(1);
                    }
                    Program.sleep(1 + i % 5);
                    held = false;
                    lock.give();
                    Program.sleep(1);
                    while (coming) {
                        Program.sleep(1);
                    }
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        void await() {
            while (!Program.stopping) {
                while (!held) {
                    Program.sleep(1);
                }
                try {
                    long from = System.nanoTime();
                    coming = true;
                    lock.take();
                    said(kind, from, owned ? "holder-" + kind : "-");
                    lock.give();
                    coming = false;
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        void begin() throws Exception {
            start("holder-" + kind, this::hold);
            start("waiter-" + kind, this::await);
        }
    }

    /** Monitors are taken by blocks, so this pair has loops of its own. */
    private static final class Monitor {
        volatile boolean held, coming;

        void hold() {
            for (long i = 0; !Program.stopping; i++) {
                synchronized (this) {
                    held = true;
                    while (!coming) {
                        Program.sleep(1);
                    }
                    Program.sleep(1 + i % 5);
                    held = false;
                }
                Program.sleep(1);
                while (coming) {
                    Program.sleep(1);
                }
            }
        }

        void await() {
            while (!Program.stopping) {
                while (!held) {
                    Program.sleep(1);
                }
                long from = System.nanoTime();
                coming = true;
                synchronized (this) {
                    said("monitor", from, "holder-monitor");
                }
                coming = false;
            }
        }
    }

    private static final class Signals {
        void waits() {
            while (!Program.stopping) {
                synchronized (this) {
                    try {
                        long from = System.nanoTime();
                        wait(7);
                        said("wait", from, "-");
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }
        }
    }

    private static void condition() {
        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        while (!Program.stopping) {
            lock.lock();
            try {
                long from = System.nanoTime();
                condition.awaitNanos(6_000_000);
                said("condition", from, "-");
            } catch (InterruptedException e) {
                return;
            } finally {
                lock.unlock();
            }
        }
    }

    private static void queue(ArrayBlockingQueue<Integer> queue) {
        while (!Program.stopping) {
            try {
                long from = System.nanoTime();
                Program.sink += queue.take();
                said("queue", from, "-");
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private static void feed(ArrayBlockingQueue<Integer> queue) {
        while (!Program.stopping) {
            Program.sleep(9);
            queue.offer(1);
        }
    }

    /** By both ways of Thread.sleep that all JDKs have. */
    private static void sleeps() {
        for (long i = 0; !Program.stopping; i++) {
            try {
                long from = System.nanoTime();
                if (i % 2 == 0) {
                    Thread.sleep(3 + i % 5);
                } else {
                    Thread.sleep(2, 500_000);
                }
                said("sleep", from, "-");
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Parks COUNT times for a tiny while, each time for another lock, and then for ever. */
    private static void distinct(long count) {
        for (long i = 0; i < count && !Program.stopping; i++) {
            LockSupport.parkNanos(new Object(), 1);
            Program.count("parks", 1);
        }
        while (!Program.stopping) {
            LockSupport.park(new Object());
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 1 && args[0].equals("distinct")) {
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                Program.thread("distinct-" + i, () -> distinct(Long.parseLong(args[2])));
            }
            Program.serve();
            return;
        }
        virtual = args.length > 0 && args[0].equals("virtual");
        Monitor monitor = new Monitor();
        start("holder-monitor", monitor::hold);
        start("waiter-monitor", monitor::await);
        ReentrantLock lock = new ReentrantLock();
        new Pair("lock", true, new Held() {
            @Override public void take() {
                lock.lock();
            }

            @Override public void give() {
                lock.unlock();
            }
        }).begin();
        ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        new Pair("write", true, new Held() {
            @Override public void take() {
                rw.writeLock().lock();
            }

            @Override public void give() {
                rw.writeLock().unlock();
            }
        }).begin();
        Semaphore semaphore = new Semaphore(1);
        new Pair("semaphore", false, new Held() {
            @Override public void take() throws InterruptedException {
                semaphore.acquire();
            }

            @Override public void give() {
                semaphore.release();
            }
        }).begin();
        start("waiter-wait", new Signals()::waits);
        start("waiter-condition", Locks::condition);
        ArrayBlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
        start("waiter-queue", () -> queue(queue));
        start("feeder", () -> feed(queue));
        if (args.length > 0 && args[0].equals("sleep")) {
            start("waiter-sleep", Locks::sleeps);
        }
        Program.serve();
    }
}
