package truth;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.Selector;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A service whose workers take turns at one lock, and in which most threads have nothing to do. Arguments: "monitor" or
 * "lock", "work" or "sleep" (what who has the lock does), and the number of idle threads.
 */
public final class Orders {
    /** What all orders need. */
    static final class Stock {
        private final ReentrantLock lock = new ReentrantLock();
        private final boolean sleeps, monitor;

        Stock(boolean monitor, boolean sleeps) {
            this.monitor = monitor;
            this.sleeps = sleeps;
        }

        void reserve() {
            if (monitor) {
                synchronized (this) {
                    recount();
                }
                return;
            }
            lock.lock();
            try {
                recount();
            } finally {
                lock.unlock();
            }
        }

        private void recount() {
            if (sleeps) {
                Program.sleep(5);
                return;
            }
            long end = System.nanoTime() + 5_000_000;
            while (System.nanoTime() < end) {
                Program.sink++;
            }
        }
    }

    private static void handle(Stock stock) {
        stock.reserve();
        Program.count("orders", 1);
    }

    private static void work(Stock stock) {
        while (!Program.stopping) {
            handle(stock);
        }
    }

    private static ThreadFactory named(String pattern) {
        AtomicInteger number = new AtomicInteger();
        return body -> {
            Thread thread = new Thread(null, body, String.format(pattern, number.incrementAndGet()), 256 * 1024);
            thread.setDaemon(true);
            return thread;
        };
    }

    private static void consume(BlockingQueue<String> mail) {
        try {
            while (true) {
                Program.sink += mail.take().length();
            }
        } catch (InterruptedException e) {
            Program.sink++;
        }
    }

    private static void select() {
        try (Selector selector = Selector.open()) {
            while (true) {
                selector.select();
            }
        } catch (IOException e) {
            Program.sink++;
        }
    }

    private static void accept() {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            while (true) {
                server.accept().close();
            }
        } catch (IOException e) {
            Program.sink++;
        }
    }

    /** COUNT threads of all kinds that wait for work. */
    private static void idle(int count) throws Exception {
        BlockingQueue<String> mail = new LinkedBlockingQueue<>();
        ExecutorService http = Executors.newFixedThreadPool(count / 2, named("http-nio-8080-exec-%d"));
        ScheduledExecutorService timed = Executors.newScheduledThreadPool(count / 8, named("timed-%d"));
        for (int i = 0; i < count / 2; i++) {
            http.submit(() -> Program.sink++);
        }
        for (int i = 0; i < count / 8; i++) {
            timed.schedule(() -> Program.sink++, 1, TimeUnit.HOURS);
        }
        for (int i = 0; i < count / 8; i++) {
            Program.thread("mail-" + i, () -> consume(mail));
        }
        for (int i = 0; i < count / 8; i++) {
            Program.thread("poller-" + i, Orders::select);
        }
        for (int i = 0; i < count / 8; i++) {
            Program.thread("cleaner-" + i, () -> Program.sleep(3_600_000));
        }
        Program.thread("acceptor", Orders::accept);
        new Timer("daily", true).schedule(new TimerTask() {
            @Override
            public void run() {
                Program.sink++;
            }
        }, 3_600_000);
    }

    public static void main(String[] args) throws Exception {
        Stock stock = new Stock(args[0].equals("monitor"), args[1].equals("sleep"));
        idle(Integer.parseInt(args[2]));
        for (int i = 0; i < 8; i++) {
            Program.thread("order-" + i, () -> work(stock));
        }
        Program.serve();
    }
}
