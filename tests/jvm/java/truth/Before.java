package truth;

import java.util.concurrent.CountDownLatch;

/**
 * Threads that allocated before the session begins, and do again after "begin": as many as the first argument says, each
 * the second one's bytes before and the third one's since, in arrays of 1 KB. Counters: `since`, the bytes of all after
 * "begin"; `ready` and `done` are 1 when all have come so far.
 */
public final class Before {
    private static final int SIZE = 1024;
    private static volatile byte[] kept;

    private static void fill(long bytes) {
        for (long left = bytes; left > 0; left -= SIZE) {
            kept = new byte[SIZE - 16];
        }
    }

    private static void again(long bytes) {
        fill(bytes);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long before = Long.parseLong(args[1]), since = Long.parseLong(args[2]);
        CountDownLatch ready = new CountDownLatch(threads), done = new CountDownLatch(threads);
        CountDownLatch go = new CountDownLatch(1);
        for (int i = 0; i < threads; i++) {
            Program.thread("before-" + i, () -> {
                fill(before);
                ready.countDown();
                await(go);
                again(since);
                done.countDown();
                while (!Program.stopping) {
                    Program.sleep(100);
                }
            });
        }
        Program.thread("waiter", () -> {
            await(ready);
            Program.set("ready", 1);
            while (!Program.begun) {
                Program.sleep(1);
            }
            go.countDown();
            await(done);
            Program.set("since", threads * since);
            Program.set("done", 1);
        });
        Program.serve();
    }
}
