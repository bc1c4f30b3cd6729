package truth;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread for each way to wait, one that burns CPU, and one that goes through all of them and says when:
 * "PHASE name from to", in ns since 1970. With the argument "alternate" there is only one thread, which waits
 * under a() and b() in turn, asleep in between but for some microseconds; a second argument says how long, in ms.
 */
public final class Phases {
    private static final Object HELD = new Object();
    private static final Object SIGNAL = new Object();
    private static final Object PHASE_LOCK = new Object();
    private static InputStream fed;
    private static OutputStream feeder;

    private static void park() {
        long end = System.nanoTime() + 40_000_000;
        for (long left = 40_000_000; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static void sleep() {
        Program.sleep(40);
    }

    private static void await() {
        synchronized (SIGNAL) {
            try {
                SIGNAL.wait(40);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The other thread has the lock by now, and will for 40 ms. */
    private static void enter() {
        synchronized (PHASE_LOCK) {
            Program.sink++;
        }
    }

    /** Its byte comes in 40 ms. */
    private static void read() {
        try {
            feeder.write(1);
            Program.sink += fed.read();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void burn() {
        long end = System.nanoTime() + 40_000_000;
        while (System.nanoTime() < end) {
            Program.sink = Program.work(2_000);
        }
    }

    private static volatile boolean wantLock, hasLock;

    /** Takes the lock when asked to, and keeps it for 40 ms. */
    private static void holdPhaseLock() {
        while (!Program.stopping) {
            while (!wantLock) {
                LockSupport.parkNanos(200_000);
            }
            synchronized (PHASE_LOCK) {
                hasLock = true;
                wantLock = false;
                Program.sleep(40);
                hasLock = false;
            }
        }
    }

    private static final long EPOCH = Program.epoch();

    private static void phase(String name, Runnable body) {
        long start = System.nanoTime();
        body.run();
        System.out.println("PHASE " + name + " " + (EPOCH + start) + " " + (EPOCH + System.nanoTime()));
    }

    /** Waits for a time that neither a tick of the kernel nor an interval divides. */
    private static void doze() {
        LockSupport.parkNanos(doze);
    }

    private static long doze = 17_300_000;

    private static int a() {
        doze();
        return 1;
    }

    private static int b() {
        doze();
        return 2;
    }

    private static void alternate() {
        for (long i = 0; !Program.stopping; i++) {
            long start = System.nanoTime();
            Program.sink += (i & 1) == 0 ? a() : b();
            String name = (i & 1) == 0 ? "a" : "b";
            System.out.println("PHASE " + name + " " + (EPOCH + start) + " " + (EPOCH + System.nanoTime()));
        }
    }

    private static void phased() {
        while (!Program.stopping) {
            phase("park", Phases::park);
            phase("sleep", Phases::sleep);
            phase("await", Phases::await);
            wantLock = true;
            while (!hasLock) {
                Thread.yield();
            }
            phase("enter", Phases::enter);
            phase("read", Phases::read);
            phase("burn", Phases::burn);
        }
    }

    private static void pipe(int delay) throws IOException {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket near = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket far = server.accept();
        near.setTcpNoDelay(true);
        far.setTcpNoDelay(true);
        fed = near.getInputStream();
        feeder = near.getOutputStream();
        Program.thread("echo", () -> {
            try {
                for (int b = far.getInputStream().read(); b >= 0; b = far.getInputStream().read()) {
                    Program.sleep(delay);
                    far.getOutputStream().write(b);
                }
            } catch (IOException e) {
                Program.sink++;
            }
        });
    }

    private static void forever(String name, Runnable body) {
        Program.thread(name, () -> {
            while (!Program.stopping) {
                body.run();
            }
        });
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            for (int i = 0; i < 20_000; i++) {
                Program.sink += Program.work(1);
            }
            if (args.length > 1) {
                doze = Long.parseLong(args[1]) * 1_000_000;
            }
            Program.thread("alternating", Phases::alternate);
            Program.serve();
            return;
        }
        pipe(40);
        forever("parker", LockSupport::park);
        forever("sleeper", () -> Program.sleep(100_000));
        forever("waiter", () -> {
            synchronized (SIGNAL) {
                try {
                    SIGNAL.wait();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        });
        Program.thread("holder", () -> {
            synchronized (HELD) {
                Program.sleep(1_000_000);
            }
        });
        Program.sleep(100);
        Program.thread("enterer", () -> {
            synchronized (HELD) {
                Program.sink++;
            }
        });
        Socket silent = new Socket(InetAddress.getLoopbackAddress(),
                                   new ServerSocket(0, 1, InetAddress.getLoopbackAddress()).getLocalPort());
        Program.thread("reader", () -> {
            try {
                Program.sink += silent.getInputStream().read();
            } catch (IOException e) {
                Program.sink++;
            }
        });
        forever("burner", Phases::burn);
        Program.thread("lock-holder", Phases::holdPhaseLock);
        Program.thread("phased", Phases::phased);
        Program.serve();
    }
}
