package truth;

import java.util.concurrent.locks.LockSupport;

/** Threads that sleep, wait and park for ever (names "idle-…"), and one that works ("worker"). */
public final class Sleepers {
    public static void main(String[] args) throws Exception {
        int each = args.length > 0 ? Integer.parseInt(args[0]) : 10;
        for (int i = 0; i < each; i++) {
            Program.thread("idle-sleep-" + i, () -> Program.sleep(Long.MAX_VALUE));
            Program.thread("idle-wait-" + i, Sleepers::waitForEver);
            Program.thread("idle-park-" + i, () -> {
                while (!Program.stopping) {
                    LockSupport.park();
                }
            });
        }
        if (args.length < 2 || !args[1].equals("idle")) {
            Program.thread("worker", () -> {
                while (!Program.stopping) {
                    Program.sink = Program.work(10_000);
                }
            });
        }
        Program.sleep(300); // let them all fall asleep
        Program.serve();
    }

    private static void waitForEver() {
        Object lock = new Object();
        synchronized (lock) {
            while (!Program.stopping) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }
}
