package truth;

import java.lang.reflect.Method;
import java.util.Collections;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Pools that have the wrong size for what they are given, and their twins that have the right one. */
public final class Pools {
    private static final int CLIENTS = 12;

    private Pools() {
    }

    /** A request to a database of 4 ms. */
    private static long query() {
        try {
            Thread.sleep(4);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Sound.all(50);
    }

    private static long compute() {
        long end = System.nanoTime() + 4_000_000;
        long sum = 0;
        while (System.nanoTime() < end) {
            sum += Sound.all(400);
        }
        return sum;
    }

    private static final Object LOCK = new Object();

    private static long exclusive() {
        synchronized (LOCK) {
            return query();
        }
    }

    private static void answer(ExecutorService pool, Callable<Long> task) throws Exception {
        Future<Long> future = pool.submit(task);
        Program.sink += future.get();
    }

    private static void later(ExecutorService pool, Supplier<Long> task) throws Exception {
        Program.sink += CompletableFuture.supplyAsync(task, pool).get();
    }

    private interface Request {
        void run() throws Exception;
    }

    private static void clients(Request request) {
        for (int i = 0; i < CLIENTS; i++) {
            Program.thread("client-" + i, () -> {
                while (!Program.stopping) {
                    try {
                        request.run();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                }
            });
        }
    }

    private static void futures(ExecutorService pool) {
        clients(() -> answer(pool, Pools::query));
    }

    private static void promises(ExecutorService pool) {
        clients(() -> later(pool, Pools::query));
    }

    /** What clients wait for comes from a timer; a pool beside it has one long task for each of its threads. */
    private static void beside() {
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) {
            pool.submit(() -> {
                while (!Program.stopping) {
                    Program.sink += query();
                }
            });
        }
        clients(() -> {
            CompletableFuture<Long> promise = new CompletableFuture<>();
            timer.schedule(() -> promise.complete(1L), 4, TimeUnit.MILLISECONDS);
            Program.sink += promise.get();
        });
    }

    private static final class Lender {
        private final ArrayBlockingQueue<Object> free = new ArrayBlockingQueue<>(CLIENTS);

        Lender(int count) {
            for (int i = 0; i < count; i++) {
                free.add(new Object());
            }
        }

        Object borrow() throws InterruptedException {
            Object one = free.poll();
            return one != null ? one : free.poll(1, TimeUnit.MINUTES);
        }
    }

    private static void transact(Lender lender) throws InterruptedException {
        Object connection = lender.borrow();
        try {
            Program.sink += query();
        } finally {
            lender.free.add(connection);
        }
    }

    private static void lent(int connections) {
        Lender lender = new Lender(connections);
        clients(() -> transact(lender));
    }

    /** Tasks of eight threads that want one of two connections. */
    private static void lentToTasks() {
        Lender lender = new Lender(2);
        ExecutorService pool = Executors.newFixedThreadPool(8);
        clients(() -> answer(pool, () -> {
            transact(lender);
            return 1L;
        }));
    }

    private static void consume(ArrayBlockingQueue<Long> orders) {
        try {
            while (!Program.stopping) {
                Program.sink += orders.take();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tasks that last: consumers, to which hardly an order comes. */
    private static void consumers() {
        ArrayBlockingQueue<Long> orders = new ArrayBlockingQueue<>(100);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        for (int i = 0; i < 4; i++) {
            pool.submit(() -> consume(orders));
        }
        Program.thread("client", () -> {
            while (!Program.stopping) {
                Program.sleep(20);
                orders.offer(1L);
            }
            for (int i = 0; i < 4; i++) {
                orders.offer(0L);
            }
        });
    }

    /** What another thread does takes 10 ms; who asks waits for it at a latch of its own. */
    private static void remote(ArrayBlockingQueue<CountDownLatch> wire) {
        CountDownLatch answered = new CountDownLatch(1);
        wire.add(answered);
        try {
            answered.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void keepAlive(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A pool whose tasks wait for a remote answer, a task that keeps the program alive, and a thread that does. */
    private static void latches() {
        ArrayBlockingQueue<CountDownLatch> wire = new ArrayBlockingQueue<>(100);
        Program.thread("remote", () -> {
            while (true) {
                CountDownLatch asked = wire.poll();
                pause(10);
                if (asked != null) {
                    asked.countDown();
                }
            }
        });
        ExecutorService stages = Executors.newFixedThreadPool(2);
        clients(() -> answer(stages, () -> {
            remote(wire);
            return 1L;
        }));
        CountDownLatch end = new CountDownLatch(1);
        Executors.newFixedThreadPool(1, task -> new Thread(task, "keeper")).submit(() -> {
            end.await();
            return null;
        });
        Program.thread("awaiter", () -> keepAlive(end));
    }

    /** Pages of two parts, each made by a virtual thread; a preview of JDK 25, which older compilers do not know. */
    private static void pages(Method open, Method fork, Method join) {
        Callable<Long> part = Pools::query;
        while (!Program.stopping) {
            try (AutoCloseable scope = (AutoCloseable) open.invoke(null)) {
                fork.invoke(scope, part);
                fork.invoke(scope, part);
                join.invoke(scope);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Clients that wait for the parts of pages in their outermost loop, and a consumer to which nothing comes. */
    private static void scopes() throws Exception {
        Class<?> type = Class.forName("java.util.concurrent.StructuredTaskScope");
        Method open = type.getMethod("open");
        Method fork = type.getMethod("fork", Callable.class);
        Method join = type.getMethod("join");
        for (int i = 0; i < 3; i++) {
            Program.thread("client-" + i, () -> pages(open, fork, join));
        }
        ArrayBlockingQueue<Long> orders = new ArrayBlockingQueue<>(100);
        Program.thread("consumer", () -> consume(orders));
    }

    private static void pause(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tasks that only sleep: clients wait for their results all the time. */
    private static void naps(ExecutorService pool) {
        Callable<Long> nap = () -> {
            Thread.sleep(20);
            return 1L;
        };
        Program.thread("invoker", () -> {
            while (!Program.stopping) {
                try {
                    pool.invokeAll(Collections.nCopies(2, nap));
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        Program.thread("joiner", () -> {
            while (!Program.stopping) {
                Program.sink += CompletableFuture.supplyAsync(() -> {
                    try {
                        Thread.sleep(20);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return 1L;
                }, pool).join();
            }
        });
    }

    /** A task that lasts, and looks for work now and then; others wait for results of another pool. */
    private static void looks() {
        ExecutorService lookers = Executors.newFixedThreadPool(1, task -> new Thread(task, "looker"));
        ExecutorService pool = Executors.newFixedThreadPool(1);
        lookers.submit(() -> {
            while (!Program.stopping) {
                Thread.sleep(20);
            }
            return null;
        });
        Program.thread("client", () -> {
            while (!Program.stopping) {
                try {
                    answer(pool, Pools::compute);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
    }

    /** As {@link #looks}, but hardly anybody waits for a result. */
    private static void looksAlone() {
        ExecutorService lookers = Executors.newFixedThreadPool(1, task -> new Thread(task, "looker"));
        ExecutorService pool = Executors.newFixedThreadPool(1);
        lookers.submit(() -> {
            while (!Program.stopping) {
                Thread.sleep(20);
            }
            return null;
        });
        Program.thread("client", () -> {
            while (!Program.stopping) {
                try {
                    Program.sleep(50);
                    answer(pool, Pools::query);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
    }

    private static void step(CyclicBarrier barrier, int ms) {
        try {
            while (!Program.stopping) {
                Thread.sleep(ms);
                barrier.await(1, TimeUnit.SECONDS);
            }
        } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
            return;
        }
    }

    /** Three that meet at a barrier, of whom one comes late; and one that looks for work now and then. */
    private static void steps() {
        CyclicBarrier barrier = new CyclicBarrier(3);
        for (int i = 0; i < 3; i++) {
            int ms = i == 0 ? 40 : 1;
            Program.thread(i == 0 ? "late" : "early-" + i, () -> step(barrier, ms));
        }
        Program.thread("looker", () -> {
            while (!Program.stopping) {
                pause(20);
            }
        });
    }

    private static void workers(int count) {
        ExecutorService pool = Executors.newFixedThreadPool(count);
        for (int i = 0; i < count; i++) {
            pool.submit(new Runnable() {
                @Override
                public void run() {
                    Program.sink += compute();
                    if (!Program.stopping) {
                        pool.submit(this);
                    }
                }
            });
        }
    }

    /** A pool of COUNT threads, of which hardly one has anything to do. */
    private static void idlers(int count) {
        ExecutorService pool = Executors.newFixedThreadPool(count);
        for (int i = 0; i < count; i++) {
            pool.submit(() -> Program.sink++);
        }
        Program.thread("client", () -> {
            while (!Program.stopping) {
                Program.sink += query();
            }
        });
    }

    private static Program.Body body(String name) {
        switch (name) {
            case "few": return () -> futures(Executors.newFixedThreadPool(2));
            case "enough": return () -> futures(Executors.newFixedThreadPool(CLIENTS));
            case "few_promises": return () -> promises(Executors.newFixedThreadPool(3));
            case "enough_promises": return () -> promises(Executors.newCachedThreadPool());
            case "few_forks": return () -> promises(new ForkJoinPool(2));
            case "enough_forks": return () -> promises(new ForkJoinPool(CLIENTS));
            case "computing": return () -> {
                ExecutorService pool = Executors.newFixedThreadPool(2 * Runtime.getRuntime().availableProcessors());
                clients(() -> answer(pool, Pools::compute));
            };
            case "locking": return () -> {
                ExecutorService pool = Executors.newFixedThreadPool(2);
                clients(() -> answer(pool, Pools::exclusive));
            };
            case "beside": return Pools::beside;
            case "lent": return () -> lent(2);
            case "lent_tasks": return Pools::lentToTasks;
            case "consumers": return Pools::consumers;
            case "latches": return Pools::latches;
            case "scopes": return Pools::scopes;
            case "naps": return () -> naps(Executors.newFixedThreadPool(1));
            case "looks": return Pools::looks;
            case "looks_alone": return Pools::looksAlone;
            case "steps": return Pools::steps;
            case "free": return () -> lent(CLIENTS);
            case "many": return () -> workers(20 * Runtime.getRuntime().availableProcessors());
            case "few_workers": return () -> workers(1);
            case "idlers": return () -> idlers(300);
            case "few_idlers": return () -> idlers(20);
            default: throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] args) throws Exception {
        Program.run("pools", body(args[0]));
    }
}
