package truth;

import java.util.concurrent.locks.LockSupport;

/**
 * A thread that wants to run each millisecond and notes by how much it was late: counter
 * `worst_ns` is the longest lateness since the last "reset".
 */
public final class Ticker {
    private Ticker() {
    }

    public static void start() {
        Program.thread("ticker", () -> {
            long before = System.nanoTime();
            while (!Program.stopping) {
                LockSupport.parkNanos(1_000_000);
                long now = System.nanoTime();
                Program.max("worst_ns", now - before - 1_000_000);
                before = now;
            }
        });
    }
}
