package truth;

import java.util.ArrayList;
import java.util.List;

/**
 * Objects that stay, objects that go: arrays of so many bytes (with header) as the first argument says, the second's
 * bytes of each kind. At "begin" the thread "keeper" allocates them in `kept` and in `dropped`, and three times as many
 * in `garbage`, which nothing refers to. At "end" what `dropped` made is let go. `kept` and `dropped` are the bytes
 * there are; `done` is 1, then 2.
 */
public final class Lives {
    private static final int HEADER = 16;
    private static final long PACE = 1 << 18; // bytes
    private static final long OBJECTS = 500;  // at most
    private static final List<byte[]> KEPT = new ArrayList<>(), DROPPED = new ArrayList<>();
    private static volatile byte[] last;

    private static byte[] kept(int size) {
        return new byte[size - HEADER];
    }

    private static byte[] dropped(int size) {
        return new byte[size - HEADER];
    }

    private static void garbage(int size) {
        last = new byte[size - HEADER];
    }

    private static void run(int size, long bytes) {
        while (!Program.begun) {
            Program.sleep(1);
        }
        long each = bytes / size, pause = Math.max(1, Math.min(PACE / size, OBJECTS / 5));
        for (long i = 0; i < each; i++) {
            KEPT.add(kept(size));
            DROPPED.add(dropped(size));
            garbage(size);
            garbage(size);
            garbage(size);
            if (i % pause == 0) {
                Program.sleep(1); // queues are emptied meanwhile
            }
        }
        last = null;
        Program.set("kept", each * size);
        Program.set("dropped", each * size);
        Program.set("done", 1);
        while (!Program.ending) {
            Program.sleep(1);
        }
        DROPPED.clear();
        Program.set("dropped", 0);
        Program.set("done", 2);
        while (!Program.stopping) {
            Program.sleep(1);
        }
        Program.sink = KEPT.size();
    }

    public static void main(String[] args) throws Exception {
        int size = Integer.parseInt(args[0]);
        long bytes = Long.parseLong(args[1]);
        Program.thread("keeper", () -> run(size, bytes));
        Program.serve();
    }
}
