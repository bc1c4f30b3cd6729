package truth;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits: one thread waits in every way, each in a method of its own, and works between. Counters: wall-clock ns in each
 * method, as it has measured itself; NAME_slow, its calls of more than 15 ms; `rounds`.
 */
public final class Waits {
    private static final Object lock = new Object();
    private static final Object never = new Object();
    private static final long SLOW_NS = 15_000_000;
    private static volatile int turn; // of the helper: 1 hold the lock, 2 answer the socket
    private static Socket near, far;

    static void sleeps() throws Exception {
        Thread.sleep(20);
        java.util.concurrent.TimeUnit.MILLISECONDS.sleep(10);
    }

    static void waits() throws Exception {
        synchronized (never) {
            never.wait(30);
        }
    }

    static void parks() {
        long end = System.nanoTime() + 30_000_000;
        while (System.nanoTime() < end)
            LockSupport.parkNanos(end - System.nanoTime());
    }

    static void blocks() {
        synchronized (lock) {
            Program.sink++;
        }
    }

    static void reads() throws Exception {
        turn = 2;
        far.getInputStream().read();
    }

    static void works() {
        long end = System.nanoTime() + 30_000_000;
        while (System.nanoTime() < end)
            Program.sink += Program.work(100);
    }

    interface Step {
        void run() throws Exception;
    }

    private static void step(String name, Step step) throws Exception {
        long at = System.nanoTime();
        step.run();
        long took = System.nanoTime() - at;
        Program.count(name, took);
        Program.count(name + "_slow", took > SLOW_NS ? 1 : 0);
    }

    static void round() throws Exception {
        step("sleeps", Waits::sleeps);
        step("waits", Waits::waits);
        step("parks", Waits::parks);
        turn = 1;
        while (turn == 1)
            Thread.yield(); // until the helper has the lock
        step("blocks", Waits::blocks);
        step("reads", Waits::reads);
        step("works", Waits::works);
        Program.count("rounds", 1);
    }

    private static void help() throws Exception {
        while (!Program.stopping) {
            if (turn == 1) {
                synchronized (lock) {
                    turn = 0;
                    Thread.sleep(30);
                }
            } else if (turn == 2) {
                turn = 0;
                Thread.sleep(30);
                near.getOutputStream().write(1);
            } else {
                Thread.sleep(1);
            }
        }
    }

    private static Runnable quiet(Step step) {
        return () -> {
            try {
                step.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        };
    }

    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            near = new Socket(server.getInetAddress(), server.getLocalPort());
            far = server.accept();
        }
        Program.thread("helper", quiet(Waits::help));
        Program.thread("waits", quiet(() -> {
            while (!Program.stopping)
                round();
        }));
        Program.serve();
    }
}
