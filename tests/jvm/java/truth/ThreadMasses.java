package truth;

import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * ThreadMasses KIND LONG SHORT: LONG threads go into outer(), call inner() and stay there while SHORT short-lived ones
 * come and go, AT_ONCE at a time, each of which parks, calls brief() and parks again; then the LONG ones call inner()
 * CALLS times and end. KIND is "virtual" or "platform". It begins when "end" is said. Counters `ready`, `done`.
 */
public final class ThreadMasses {
    private static final int AT_ONCE = 200, CALLS = 100;
    private static int sink;
    private static Method startVirtual;

    static void inner() {
        sink++;
    }

    static void brief() {
        sink++;
    }

    static void outer(CountDownLatch inside, CountDownLatch go) throws Exception {
        inner();
        inside.countDown();
        go.await();
        for (int i = 0; i < CALLS; i++)
            inner();
    }

    private static Thread start(Runnable body) throws Exception {
        if (startVirtual != null)
            return (Thread) startVirtual.invoke(null, body);
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void masses(int count) throws Exception {
        Semaphore free = new Semaphore(AT_ONCE);
        for (int i = 0; i < count; i++) {
            free.acquire();
            start(() -> {
                LockSupport.parkNanos(1000);
                brief();
                LockSupport.parkNanos(1000);
                free.release();
            });
        }
        free.acquire(AT_ONCE);
    }

    private static void run(int many, int count) throws Exception {
        CountDownLatch inside = new CountDownLatch(many), go = new CountDownLatch(1);
        Thread[] threads = new Thread[many];
        for (int i = 0; i < many; i++)
            threads[i] = start(() -> {
                try {
                    outer(inside, go);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        inside.await();
        masses(count);
        go.countDown();
        for (Thread thread : threads)
            thread.join();
        Program.set("done", 1);
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("virtual"))
            startVirtual = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Program.thread("masses", () -> {
            Program.set("ready", 1);
            while (!Program.ending)
                Program.sleep(5);
            try {
                run(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        Program.serve();
    }
}
