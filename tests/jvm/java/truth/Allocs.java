package truth;

import java.util.concurrent.CountDownLatch;

/**
 * Objects whose bytes the program knows: arrays of each size in the first argument ("1024,262144", bytes with header),
 * as many as make up the second one's bytes, allocated in two methods in turn: `size` by a thread that was there
 * before, `born` by one that begins when "begin" was said. Counters: the bytes of each as `old_SIZE` and `new_SIZE`,
 * and `exact_SIZE`, by the JVM's own count of the first; `done` is 1 at the end. With a third argument a thread `plain`
 * allocates that many bytes of objects that are no arrays.
 */
public final class Allocs {
    private static final com.sun.management.ThreadMXBean EXACT =
        (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
    private static final int HEADER = 16;
    private static final int PACE = 1 << 20; // bytes, then 1 ms of rest: queues are emptied meanwhile
    private static final int PLAIN = 16; // an Object's bytes, with its header; 8 of JVMs with small headers
    private static volatile byte[] kept;
    private static volatile Object plain;

    /** Rest if that much is left to do that it is time; how much will be left at the next one. */
    private static long rest(long left, long pause) {
        if (left >= pause) {
            return pause;
        }
        Program.sleep(1);
        return left - PACE;
    }

    /* Two methods that do the same, so that stacks tell one from the other. */
    private static void old(int size, long bytes) {
        long pause = bytes - PACE;
        for (long left = bytes; left > 0; left -= size, pause = rest(left, pause)) {
            kept = new byte[size - HEADER];
        }
    }

    private static void born(int size, long bytes) {
        long pause = bytes - PACE;
        for (long left = bytes; left > 0; left -= size, pause = rest(left, pause)) {
            kept = new byte[size - HEADER];
        }
    }

    private static void plain(long bytes, CountDownLatch done) {
        while (!Program.begun) {
            Program.sleep(1);
        }
        long pause = bytes - PACE;
        for (long left = bytes; left > 0; left -= PLAIN, pause = rest(left, pause)) {
            plain = new Object();
        }
        done.countDown();
    }

    private static long made(int size, long bytes) {
        return (bytes + size - 1) / size * size;
    }

    private static void run(int size, long bytes, CountDownLatch done) {
        while (!Program.begun) {
            Program.sleep(1);
        }
        Thread later = Program.thread("new-" + size, () -> born(size, bytes));
        long before = EXACT.getThreadAllocatedBytes(Thread.currentThread().getId());
        old(size, bytes);
        Program.set("exact_" + size, EXACT.getThreadAllocatedBytes(Thread.currentThread().getId()) - before);
        Program.set("old_" + size, made(size, bytes));
        try {
            later.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Program.set("new_" + size, made(size, bytes));
        done.countDown();
    }

    public static void main(String[] args) throws Exception {
        String[] sizes = args[0].split(",");
        long bytes = Long.parseLong(args[1]);
        CountDownLatch done = new CountDownLatch(args.length > 2 ? sizes.length + 1 : sizes.length);
        for (String text : sizes) {
            int size = Integer.parseInt(text);
            Program.thread("old-" + size, () -> run(size, bytes, done));
        }
        if (args.length > 2) {
            Program.thread("plain", () -> plain(Long.parseLong(args[2]), done));
        }
        Program.thread("waiter", () -> {
            try {
                done.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            Program.set("done", 1);
        });
        Program.serve();
    }
}
