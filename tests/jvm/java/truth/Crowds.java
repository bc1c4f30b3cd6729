package truth;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * Arguments: kinds apart by +: `threads` are born and end 150 at a time, `names` are those of 4 threads that work, and
 * change between in-N and out-N, `files` are libraries that are loaded and unloaded (argument 2: the native library),
 * `classes` come and go with garbage collections (truth.Churn), `virtual` are crowds of virtual threads (JDK 21 and later).
 * Counters: threads, renamed, files, classes, virtual.
 */
public final class Crowds {
    private static final int CROWD = 150;

    private Crowds() {
    }

    public static void main(String[] args) throws Exception {
        for (String kind : args[0].split("\\+")) {
            Program.thread("crowds-" + kind, body(kind, args.length > 1 ? args[1] : null));
        }
        Program.serve();
    }

    private static Runnable body(String kind, String library) {
        switch (kind) {
            case "threads": return Crowds::crowds;
            case "names": return Crowds::names;
            case "files": return () -> files(library);
            case "classes": return Crowds::classes;
            case "virtual": return Crowds::virtual;
            default: throw new IllegalArgumentException(kind);
        }
    }

    private static native int load();

    private static void files(String library) {
        System.load(library);
        while (!Program.stopping) {
            Program.count("files", load());
            Program.sleep(30);
        }
    }

    private static void classes() {
        try {
            Churn.begin("loaders", 200);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void names() {
        for (int i = 0; i < 4; i++) {
            int number = i;
            Program.thread("in-" + i, () -> {
                for (long n = number; !Program.stopping; n++) {
                    Program.sink += Program.work(1_000_000);
                    Thread.currentThread().setName((n % 2 == 0 ? "out-" : "in-") + number);
                    Program.count("renamed", 1);
                    Program.sleep(1);
                }
            });
        }
    }

    private static void virtual() {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            while (!Program.stopping) {
                List<Thread> crowd = new ArrayList<>();
                for (int i = 0; i < CROWD; i++) {
                    crowd.add((Thread) start.invoke(null, (Runnable) () -> {
                        Program.sink += Program.work(20_000);
                        Program.sleep(1);
                    }));
                }
                for (Thread thread : crowd) {
                    thread.join();
                }
                Program.count("virtual", CROWD);
            }
        } catch (ReflectiveOperationException | InterruptedException e) {
            throw new IllegalStateException(e);
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
