package truth;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Locks that are held for moments or by one thread, and yet hold others up; and twins that do not. */
public final class Convoys {
    private static final int THREADS = 6;

    private Convoys() {
    }

    private static final class Ledger {
        private final ReentrantLock fair = new ReentrantLock(true);
        private long sum;

        void note(long n) {
            fair.lock();
            try {
                sum += n;
            } finally {
                fair.unlock();
            }
        }
    }

    /** Between two notes each thread does some work of its own. */
    private static void notes(boolean shared, int outside) {
        Ledger common = new Ledger();
        for (int i = 0; i < THREADS; i++) {
            Ledger ledger = shared ? common : new Ledger();
            Program.thread("clerk-" + i, () -> {
                while (!Program.stopping) {
                    ledger.note(1);
                    Program.sink += Sound.all(outside);
                }
            });
        }
    }

    private static final class Table {
        private long[] rows = new long[16];

        synchronized void rebuild(int ms) {
            Program.sleep(ms);
            rows[1]++;
        }

        synchronized long read(int row) {
            return rows[row];
        }
    }

    private static void table(int held, int pause) {
        Table table = new Table();
        Program.thread("writer", () -> {
            while (!Program.stopping) {
                table.rebuild(held);
                LockSupport.parkNanos(pause * 1_000_000L);
            }
        });
        for (int i = 0; i < 3; i++) {
            Program.thread(i < 2 ? "reader-" + i : "auditor", () -> {
                while (!Program.stopping) {
                    Program.sink += table.read(3) + Sound.all(50);
                    LockSupport.parkNanos(1_000_000);
                }
            });
        }
    }

    /** COUNT threads, each of which has a monitor and wants the next one's. RING: the last one wants the first one's. */
    private static void circle(int count, boolean ring) {
        Object[] monitors = new Object[count + 1];
        CountDownLatch all = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            monitors[i] = new Table();
        }
        monitors[count] = ring ? monitors[0] : new Table();
        for (int i = 0; i < count; i++) {
            Object own = monitors[i], next = monitors[i + 1];
            Program.thread("philosopher-" + i, () -> eat(own, next, all));
        }
    }

    private static void eat(Object own, Object next, CountDownLatch all) {
        synchronized (own) {
            all.countDown();
            while (all.getCount() > 0) {
                Program.sleep(1);
            }
            synchronized (next) {
                while (!Program.stopping) { // without a ring it has both for long, and the others wait
                    Program.sleep(20);
                }
            }
        }
    }

    /** A circle of two, and COUNT threads before them in the JVM's list that pile up behind it. */
    private static void behind(int count) {
        Object[] monitors = {new Table(), new Table()};
        CountDownLatch held = new CountDownLatch(2);
        for (int i = 0; i < count; i++) {
            Program.thread("guest-" + i, () -> {
                while (held.getCount() > 0) {
                    Program.sleep(1);
                }
                synchronized (monitors[0]) {
                    Program.sink++;
                }
            });
        }
        for (int i = 0; i < 2; i++) {
            Object own = monitors[i], next = monitors[1 - i];
            Program.thread("philosopher-" + i, () -> eat(own, next, held));
        }
    }

    private static Program.Body body(String name) {
        switch (name) {
            case "convoy": return () -> notes(true, 10);
            case "apart": return () -> notes(false, 10);
            case "writer": return () -> table(30, 1);
            case "deadlock": return () -> circle(2, true);
            case "behind": return () -> behind(300);
            case "ring": return () -> circle(5, true);
            case "chain": return () -> circle(5, false);
            case "seldom": return () -> table(1, 400);
            default: throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] args) throws Exception {
        Program.run("convoys", body(args[0]));
    }
}
