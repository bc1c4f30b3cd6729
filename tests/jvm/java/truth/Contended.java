package truth;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that fight for a lock: each takes it, works for a while, gives it back and works as long without. Arguments:
 * "monitor" or "lock", the number of threads, and of locks that each thread goes through in turn. Counter "units".
 */
public final class Contended {
    private static volatile AtomicLongArray units;

    private static void monitor(int thread, Object[] locks) {
        for (int i = thread; !Program.stopping; i++) {
            synchronized (locks[i % locks.length]) {
                Program.sink = Program.work(1_000);
            }
            Program.sink = Program.work(1_000);
            units.incrementAndGet(thread * 8);
        }
    }

    private static void lock(int thread, ReentrantLock[] locks) {
        for (int i = thread; !Program.stopping; i++) {
            ReentrantLock lock = locks[i % locks.length];
            lock.lock();
            try {
                Program.sink = Program.work(1_000);
            } finally {
                lock.unlock();
            }
            Program.sink = Program.work(1_000);
            units.incrementAndGet(thread * 8);
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]), count = Integer.parseInt(args[2]);
        Object[] monitors = new Object[count];
        ReentrantLock[] locks = new ReentrantLock[count];
        units = new AtomicLongArray(threads * 8);
        for (int i = 0; i < count; i++) {
            monitors[i] = new Object();
            locks[i] = new ReentrantLock();
        }
        for (int i = 0; i < threads; i++) {
            int number = i;
            Program.thread("fighter-" + i, args[0].equals("lock") ? () -> lock(number, locks)
                                                                   : () -> monitor(number, monitors));
        }
        Program.gauge("units", () -> {
            long sum = 0;
            for (int i = 0; i < threads; i++) {
                sum += units.get(i * 8);
            }
            return sum;
        });
        Program.serve();
    }
}
