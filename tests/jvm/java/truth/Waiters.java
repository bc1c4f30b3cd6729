package truth;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A thread called as argument 0 says, that waits in its outermost loop for what comes to an end, or for work. */
public final class Waiters {
    private Waiters() {
    }

    private static TimerTask task(Runnable body) {
        return new TimerTask() {
            @Override
            public void run() {
                body.run();
            }
        };
    }

    private static Process sleepFor(String seconds) {
        try {
            return new ProcessBuilder("sleep", seconds).start();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void waitFor(Process process) {
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            process.destroy();
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(CountDownLatch latch, int ms) {
        try {
            latch.await(ms, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What two threads count down after 40 ms. */
    private static CountDownLatch round() {
        CountDownLatch latch = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            Program.thread("part-" + i, () -> {
                Program.sleep(40);
                latch.countDown();
            });
        }
        return latch;
    }

    private static Thread sleeper(int ms) {
        return Program.thread("child", () -> Program.sleep(ms));
    }

    private static void loop(String name, Runnable body) {
        Program.thread(name, () -> {
            while (!Program.stopping) {
                body.run();
            }
        });
    }

    /** Its outermost method is called as a program's is. */
    private static final class Tasks {
        public static void main() {
            try {
                ExecutorService pool = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
                Callable<Long> task = () -> {
                    Program.sleep(40);
                    return 1L;
                };
                while (!Program.stopping) {
                    List<Future<Long>> results = new ArrayList<>();
                    for (int i = 0; i < 4; i++) {
                        results.add(pool.submit(task));
                    }
                    for (Future<Long> result : results) {
                        Program.sink += result.get();
                    }
                }
            } catch (ReflectiveOperationException | ExecutionException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Takes long to initialise. */
    private static final class Slow {
        static {
            Program.sleep(600_000);
        }

        static long number() {
            return 1;
        }
    }

    /** Two classes that need each other: whose initialisers begin at the same time never end. */
    private static final class Hen {
        static long eggs;

        static {
            Program.sleep(200);
            eggs = lays();
        }

        private static long lays() {
            return Egg.number() + 1;
        }

        static long number() {
            return eggs;
        }
    }

    private static final class Egg {
        static long hens;

        static {
            Program.sleep(200);
            hens = Hen.number() + 1;
        }

        static long number() {
            return hens;
        }
    }

    private static void useHen() {
        Program.sink += Hen.number();
    }

    private static void use() {
        Program.sink += Slow.number();
    }

    private static void start(String who) {
        switch (who) {
            case "timer": // 80 ms of each 100
                new Timer("timer", true).schedule(task(() -> Program.sleep(80)), 0, 100);
                break;
            case "looker": // nothing is due
                new Timer("looker", true).schedule(task(() -> Program.count("due", 1)), 3_600_000);
                break;
            case "converter":
                loop(who, () -> waitFor(sleepFor("0.2")));
                break;
            case "helper":
                Process helper = sleepFor("600");
                Runtime.getRuntime().addShutdownHook(new Thread(helper::destroy));
                loop(who, () -> waitFor(helper));
                break;
            case "parent":
                loop(who, () -> join(sleeper(300)));
                break;
            case "keeper":
                Thread stays = sleeper(600_000);
                loop(who, () -> join(stays));
                break;
            case "rounds":
                loop(who, () -> await(round(), 10_000));
                break;
            case "stays": // one latch, looked at again and again
                CountDownLatch end = new CountDownLatch(1);
                loop(who, () -> await(end, 50));
                break;
            case "class":
                for (int i = 0; i < 3; i++) {
                    Program.thread("starter-" + i, Waiters::use);
                }
                break;
            case "classes":
                Program.thread("hen", Waiters::useHen);
                Program.thread("egg", () -> Program.sink += Egg.number());
                Program.sleep(100);
                Program.thread("farmer", Waiters::useHen);
                Program.sleep(300);
                break;
            case "main": {
                Thread main = new Thread(Tasks::main, "main-of-tasks");
                main.setDaemon(true);
                main.start();
                break;
            }
            default:
                throw new IllegalArgumentException(who);
        }
    }

    public static void main(String[] args) throws Exception {
        Program.run("waiters", () -> start(args[0]));
    }
}
