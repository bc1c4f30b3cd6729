package truth;

import java.util.concurrent.CountDownLatch;

/**
 * Waits for native locks whose time the program knows. Arguments: library, scenario, number.
 *
 * rounds N: when "begin" was said, of each kind N times: the thread `holder` has it for 10 ms, and `waiter` waits.
 * Counters: ns waited by kind; `done` is 1 at the end. late N: the same, with a library that is loaded only then, two
 * seconds before. long N: the same, held for 60 ms. idle: the same of conditions and semaphores alone, which nothing
 * ends but time. fight NS: two threads take turns in holding a mutex for NS (asleep from 10 µs on), from "begin" until "end": ns waited in
 * `fight`, turns in `turns`. keep: `holder` has a mutex until "end", and `waiter` waits; then `got` is 1. short N: of N
 * threads `brief-I` each waits once for 3 ms: ns in `brief`.
 */
public final class NativeLocks {
    private static final String[] KINDS = {
        "mutex", "timed", "recursive", "inheriting", "read", "write", "spin", "condition", "semaphore",
    };
    private static final int IDLE = 7;

    private NativeLocks() {
    }

    private static native void open();

    private static native long take(int kind);

    private static native void hold(int kind);

    private static native void give(int kind);

    private static native long fight(long rounds, long held);

    public static void main(String[] args) throws Exception {
        String scenario = args[1];
        if (!scenario.equals("late")) {
            System.load(args[0]);
            open();
        }
        long number = args.length > 2 ? Long.parseLong(args[2]) : 0;
        if (scenario.equals("fight")) {
            for (int i = 0; i < 2; i++) {
                Program.thread("fighter-" + i, () -> fightOn(number));
            }
        } else {
            Program.thread("director", () -> direct(args[0], scenario, (int) number));
        }
        Program.serve();
    }

    private static void fightOn(long held) {
        while (!Program.begun) {
            Program.sleep(1);
        }
        while (!Program.ending && !Program.stopping) {
            Program.count("fight", fight(100, held));
            Program.count("turns", 100);
        }
        Program.count("done", 1);
    }

    private static void direct(String library, String scenario, int number) {
        while (!Program.begun) {
            Program.sleep(1);
        }
        try {
            switch (scenario) {
                case "late":
                    System.load(library);
                    open();
                    Program.sleep(2000);
                    // falls through
                case "rounds":
                    for (int i = 0; i < number * IDLE; i++) {
                        round(i % IDLE, "waiter", KINDS[i % IDLE], 10);
                    }
                    break;
                case "long":
                    for (int i = 0; i < number * IDLE; i++) {
                        round(i % IDLE, "waiter", KINDS[i % IDLE], 60);
                    }
                    break;
                case "idle":
                    for (int i = 0; i < 2 * number; i++) {
                        int kind = IDLE + i % 2;
                        Thread idler = Program.thread("idler", () -> Program.count(KINDS[kind], Math.abs(take(kind))));
                        idler.join();
                    }
                    break;
                case "short":
                    for (int i = 0; i < number; i++) {
                        round(0, "brief-" + i, "brief", 3);
                    }
                    break;
                default:
                    keep();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        Program.count("done", 1);
    }

    private static void round(int kind, String name, String counter, long ms) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        Thread holder = Program.thread("holder", () -> {
            hold(kind);
            held.countDown();
            Program.sleep(ms);
            give(kind);
        });
        held.await();
        Thread waiter = Program.thread(name, () -> {
            long ns = take(kind);
            give(kind);
            Program.count(ns > 0 ? counter : "failed", Math.abs(ns));
        });
        waiter.join();
        holder.join();
    }

    private static void keep() throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        Thread holder = Program.thread("holder", () -> {
            hold(0);
            held.countDown();
            while (!Program.ending) {
                Program.sleep(1);
            }
            give(0);
        });
        held.await();
        Program.set("held", 1);
        take(0);
        give(0);
        Program.set("got", 1);
        holder.join();
    }
}
