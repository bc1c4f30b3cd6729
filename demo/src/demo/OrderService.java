package demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A small order service that works on itself: two clients write orders as JSON text, two workers
 * parse, check, price and book them, one archiver compresses the day's journal, one reporter
 * prints totals. It has what a profiler should show: parsing, collections, regular expressions, a
 * lock that is fought for, native code (deflate) and garbage.
 *
 *     java -cp CLASSES demo.OrderService [SECONDS]      (for ever without SECONDS)
 */
public final class OrderService {
    private final BlockingQueue<String> inbox = new ArrayBlockingQueue<>(256);
    private final Catalogue catalogue = new Catalogue();
    private final Ledger ledger = new Ledger();
    private final Archive archive = new Archive();
    private volatile boolean closing;

    public static void main(String[] args) throws Exception {
        OrderService service = new OrderService();
        List<Thread> threads = service.start();
        System.out.println("order service: started");
        System.out.flush();
        long end = args.length > 0 ? System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9) : Long.MAX_VALUE;
        while (System.nanoTime() < end) {
            TimeUnit.MILLISECONDS.sleep(100);
        }
        service.closing = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("order service: " + service.ledger.summary());
    }

    private List<Thread> start() {
        List<Thread> threads = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            long seed = i;
            threads.add(new Thread(() -> takeOrders(new OrderWriter(seed, catalogue)), "client-" + i));
            threads.add(new Thread(this::processOrders, "worker-" + i));
        }
        threads.add(new Thread(this::keepJournal, "archiver"));
        threads.add(new Thread(this::report, "reporter"));
        for (Thread thread : threads) {
            thread.start();
        }
        return threads;
    }

    private void takeOrders(OrderWriter writer) {
        while (!closing) {
            offer(writer.next());
        }
    }

    private void offer(String order) {
        try {
            inbox.offer(order, 50, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void processOrders() {
        while (!closing) {
            try {
                String text = inbox.poll(50, TimeUnit.MILLISECONDS);
                if (text != null) {
                    process(text);
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void process(String text) {
        Order order = Order.from(new JsonParser(text).parse());
        String fault = OrderCheck.fault(order);
        if (fault != null) {
            ledger.refuse(order, fault);
            return;
        }
        ledger.book(order, catalogue.price(order));
        archive.note(text);
    }

    private void keepJournal() {
        while (!closing) {
            archive.compress();
        }
    }

    private void report() {
        while (!closing) {
            ledger.report();
            try {
                TimeUnit.MILLISECONDS.sleep(20);
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
