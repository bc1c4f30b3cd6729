package truth;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Who holds others up while it sleeps. "monitor" and "lock": two refreshers sleep with one each in one method, N getters
 * (argument 1) want either in another. "room": N producers want room in queues whose consumers sleep for each element. In
 * each there is a thread `timer` that only sleeps.
 */
public final class Holders {
    private Holders() {
    }

    /** Sleeps here, not in a method of its own, so that its thread looks as if it had nothing to do. */
    private interface Step {
        void run() throws InterruptedException;
    }

    private static final class Store {
        private final ReentrantLock lock = new ReentrantLock();
        private long value;

        synchronized void refresh() throws InterruptedException {
            Thread.sleep(40);
            value++;
        }

        synchronized long get() {
            return value;
        }

        void refreshLocked() throws InterruptedException {
            lock.lock();
            try {
                Thread.sleep(40);
                value++;
            } finally {
                lock.unlock();
            }
        }

        long getLocked() {
            lock.lock();
            try {
                return value;
            } finally {
                lock.unlock();
            }
        }
    }

    /** REST ms between two steps let others have what the step takes, each in turn. */
    private static void forever(String name, int rest, Step step) {
        Program.thread(name, () -> {
            try {
                while (!Program.stopping) {
                    step.run();
                    if (rest > 0) {
                        Thread.sleep(rest);
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private static void produce(ArrayBlockingQueue<Long> queue) throws InterruptedException {
        queue.put(1L);
    }

    private static void start(String mode, int count) {
        boolean locked = mode.equals("lock");
        Store[] stores = {new Store(), new Store()};
        for (int i = 0; !mode.equals("room") && i < stores.length; i++) {
            Store store = stores[i];
            forever("refresher-" + i, 4, locked ? store::refreshLocked : store::refresh);
        }
        for (int i = 0; i < count; i++) {
            Store store = stores[i % 2];
            if (mode.equals("room")) {
                ArrayBlockingQueue<Long> queue = new ArrayBlockingQueue<>(4);
                forever("consumer-" + i, 0, () -> {
                    Program.sink += queue.take();
                    Thread.sleep(50);
                });
                forever("producer-" + i, 0, () -> produce(queue));
            } else {
                forever("getter-" + i, 0,
                        () -> Program.sink += (locked ? store.getLocked() : store.get()) + Sound.all(200));
            }
        }
        forever("timer", 0, () -> Thread.sleep(20));
    }

    public static void main(String[] args) throws Exception {
        Program.run("holders", () -> start(args[0], Integer.parseInt(args[1])));
    }
}
