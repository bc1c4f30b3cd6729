package truth;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * N threads that wait - "pool": for work, "epoll": in a selector, "socket": for input - and two that work
 * and pause, 1 ms each (0 with "0" as the third argument).
 */
public final class IdlePool {
    private static void pool(int n) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(n, body -> {
            Thread thread = new Thread(null, body, "idle", 256 * 1024);
            thread.setDaemon(true);
            return thread;
        });
        for (int i = 0; i < n; i++) {
            pool.submit(() -> Program.sink++);
        }
        pool.submit(() -> Program.sink++).get(60, TimeUnit.SECONDS);
    }

    private static void start(Runnable body) {
        Thread thread = new Thread(null, body, "idle", 256 * 1024);
        thread.setDaemon(true);
        thread.start();
    }

    private static void epoll(int n) {
        for (int i = 0; i < n; i++) {
            start(() -> {
                try (Selector selector = Selector.open()) {
                    while (!Program.stopping) {
                        selector.select();
                    }
                } catch (IOException e) {
                    Program.sink++;
                }
            });
        }
    }

    /** Sockets that are not referenced are closed. */
    private static final List<Socket> OPEN = new ArrayList<>();

    private static void socket(int n) throws IOException {
        ServerSocket server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
        for (int i = 0; i < n; i++) {
            Socket near = new Socket(server.getInetAddress(), server.getLocalPort());
            OPEN.add(server.accept());
            OPEN.add(near);
            start(() -> {
                try {
                    Program.sink += near.getInputStream().read();
                } catch (IOException e) {
                    Program.sink++;
                }
            });
        }
    }

    private static void active() {
        while (!Program.stopping) {
            long end = System.nanoTime() + 1_000_000;
            while (System.nanoTime() < end) {
                Program.sink = Program.work(1_000);
            }
            Program.sleep(1);
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[1]);
        if (args[0].equals("pool")) {
            pool(n);
        } else if (args[0].equals("epoll")) {
            epoll(n);
        } else {
            socket(n);
        }
        int busy = args.length > 2 ? Integer.parseInt(args[2]) : 2;
        for (int i = 0; i < busy; i++) {
            Program.thread("active-" + i, IdlePool::active);
        }
        Program.sleep(500 + n / 10);
        Program.serve();
    }
}
