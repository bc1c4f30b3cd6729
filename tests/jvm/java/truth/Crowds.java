package truth;

import java.util.ArrayList;
import java.util.List;

/**
 * Threads that are born and end 150 at a time. Arguments: kinds apart by +: `threads`. Counter: threads.
 */
public final class Crowds {
    private static final int CROWD = 150;

    private Crowds() {
    }

    public static void main(String[] args) throws Exception {
        for (String kind : args[0].split("\\+")) {
            Program.thread("crowds-" + kind, body(kind));
        }
        Program.serve();
    }

    private static Runnable body(String kind) {
        switch (kind) {
            case "threads": return Crowds::crowds;
            default: throw new IllegalArgumentException(kind);
        }
    }

    private static void crowds() {
        while (!Program.stopping) {
            List<Thread> crowd = new ArrayList<>();
            for (int i = 0; i < CROWD; i++) {
                crowd.add(Program.thread("crowd-" + i, () -> Program.sink += Program.work(200_000)));
            }
            for (Thread thread : crowd) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    return;
                }
            }
            Program.count("threads", CROWD);
        }
    }
}
