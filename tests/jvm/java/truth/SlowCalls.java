package truth;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * SlowCalls ROUNDS: after "end" was said, ROUNDS rounds in which each method here is called once, and takes PAUSE_MS at
 * least: by waiting in all the ways there are, or by work. Counters `ready`, `done`.
 */
public final class SlowCalls {
    private static final int PAUSE_MS = 3;
    private static final Object monitor = new Object();
    private static final ReentrantLock lock = new ReentrantLock();
    private static volatile int turn; // of the helper: 1 take the monitor, 2 the lock, 3 write
    private static Socket near, far;

    private static long end() {
        return System.nanoTime() + PAUSE_MS * 1_000_000L;
    }

    static void sleeps() throws Exception {
        for (long end = end(); System.nanoTime() < end; )
            Thread.sleep(1);
    }

    static void waits() throws Exception {
        synchronized (turns()) {
            for (long end = end(); System.nanoTime() < end; )
                SlowCalls.class.wait(1);
        }
    }

    private static Object turns() {
        return SlowCalls.class;
    }

    static void parks() {
        for (long end = end(); System.nanoTime() < end; )
            LockSupport.parkNanos(100_000);
    }

    static void blocks() {
        synchronized (monitor) {
            Program.sink++;
        }
        parks();
    }

    static void locks() {
        lock.lock();
        lock.unlock();
        parks();
    }

    static void reads(InputStream in) throws Exception {
        in.read();
        parks();
    }

    static void works() {
        for (long end = end(); System.nanoTime() < end; )
            Program.sink += Program.work(100);
    }

    private static void take(int what) {
        turn = what;
        while (turn == what && !Program.stopping)
            Thread.yield(); // until the helper has it
    }

    static void round(InputStream in) throws Exception {
        sleeps();
        waits();
        parks();
        take(1);
        blocks();
        take(2);
        locks();
        take(3);
        reads(in);
        works();
    }

    private static void help(OutputStream out) throws Exception {
        while (!Program.stopping) {
            if (turn == 1) {
                synchronized (monitor) {
                    turn = 0;
                    Thread.sleep(PAUSE_MS);
                }
            } else if (turn == 2) {
                lock.lock();
                turn = 0;
                Thread.sleep(PAUSE_MS);
                lock.unlock();
            } else if (turn == 3) {
                turn = 0;
                Thread.sleep(PAUSE_MS);
                out.write(1);
            } else {
                Thread.yield();
            }
        }
    }

    interface Step {
        void run() throws Exception;
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

    private static void rounds(int count) throws Exception {
        Program.set("ready", 1);
        while (!Program.ending)
            Program.sleep(5);
        for (int i = 0; i < count; i++)
            round(far.getInputStream());
        Program.set("done", 1);
    }

    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            near = new Socket(server.getInetAddress(), server.getLocalPort());
            far = server.accept();
        }
        OutputStream out = near.getOutputStream();
        Program.thread("helper", quiet(() -> help(out)));
        Program.thread("slow", quiet(() -> rounds(Integer.parseInt(args[0]))));
        Program.serve();
    }
}
