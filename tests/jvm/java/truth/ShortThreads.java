package truth;

import java.util.concurrent.Semaphore;

/**
 * Threads that live for some ms of CPU time each, so many at a time (second argument); the first: their lives, as
 * "2,6" in ms, in turn. Each method's CPU time, by the threads' own clocks, stands under its name.
 */
public final class ShortThreads {
    private static void brief(long ms) {
        burn(ms);
    }

    private static void longer(long ms) {
        burn(ms);
    }

    private static void burn(long ms) {
        long end = Program.cpu() + ms * 1_000_000;
        while (Program.cpu() < end) {
            Program.sink += Program.work(3000);
        }
    }

    private static void live(long ms, boolean isBrief) {
        if (isBrief) {
            brief(ms);
        } else {
            longer(ms);
        }
        Program.count(isBrief ? "brief" : "longer", Program.cpu());
    }

    public static void main(String[] args) throws Exception {
        String[] lives = args[0].split(",");
        Semaphore places = new Semaphore(Integer.parseInt(args[1]));
        Program.thread("starter", () -> {
            for (int i = 0; !Program.stopping; i++) {
                long ms = Long.parseLong(lives[i % lives.length]);
                boolean isBrief = i % lives.length == 0;
                places.acquireUninterruptibly();
                Program.thread("short-" + i % 100, () -> {
                    live(ms, isBrief);
                    places.release();
                });
            }
        });
        Program.serve();
    }
}
