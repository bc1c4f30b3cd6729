package truth;

/** Threads fight for one lock all the time; another one is held for 250 ms at a time, in `holds`, and waited for then. */
public final class RareLock {
    private static final Object often = new Object(), rarely = new Object();
    private static volatile boolean held;

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void fights() {
        while (!Program.stopping) {
            synchronized (often) {
                Program.sink = Program.work(1_000);
            }
        }
    }

    private static void holds() {
        while (!Program.stopping) {
            synchronized (rarely) {
                held = true;
                sleep(250);
                held = false;
            }
            sleep(350);
        }
    }

    private static void wants() {
        while (!Program.stopping) {
            while (!held && !Program.stopping) {
                sleep(1);
            }
            synchronized (rarely) {
                Program.sink = Program.work(1);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 4; i++) {
            Program.thread("fighter-" + i, RareLock::fights);
        }
        Program.thread("holder", RareLock::holds);
        Program.thread("wanter", RareLock::wants);
        Program.serve();
    }
}
