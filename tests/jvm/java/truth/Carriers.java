package truth;

import java.lang.reflect.Method;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Virtual threads (JDK 21 and later) that keep their carriers while they wait, and twins that give them back. */
public final class Carriers {
    private Carriers() {
    }

    public static void pause() {
        Program.sleep(20);
    }

    /** Its initializer waits: a virtual thread cannot leave its carrier there. */
    static final class Slow {
        static final int VALUE;

        static {
            pause();
            VALUE = 7;
        }

        private Slow() {
        }
    }

    private static final class Loader extends ClassLoader {
        private final byte[] file;

        Loader(byte[] file) {
            this.file = file;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("truth.Carriers$Slow")) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            return known != null ? known : defineClass(name, file, 0, file.length);
        }
    }

    private static void initialize(byte[] file) {
        try {
            Class.forName("truth.Carriers$Slow", true, new Loader(file));
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void each(ExecutorService executor, Runnable task) {
        for (int i = 0; i < 20; i++) {
            executor.execute(() -> {
                while (!Program.stopping) {
                    task.run();
                    Program.sink += Sound.all(50);
                }
            });
        }
    }

    private static ExecutorService virtual() throws Exception {
        Method made = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        return (ExecutorService) made.invoke(null);
    }

    private static void run(String name) throws Exception {
        URL url = Carriers.class.getResource("/truth/Carriers$Slow.class");
        byte[] file = Files.readAllBytes(Paths.get(url.toURI()));
        Object lock = new Object();
        switch (name) {
            case "pinned":
                each(virtual(), () -> initialize(file));
                break;
            case "free":
                each(virtual(), Carriers::pause);
                break;
            case "works": // a millisecond for each pause
                each(virtual(), () -> {
                    pause();
                    for (long end = System.nanoTime() + 1_000_000; System.nanoTime() < end;) {
                        Program.sink += Sound.all(5);
                    }
                });
                break;
            case "monitor":
                each(virtual(), () -> {
                    synchronized (lock) {
                        pause();
                    }
                });
                break;
            case "wait":
                each(virtual(), () -> {
                    Object own = new Object();
                    synchronized (own) {
                        try {
                            own.wait(20);
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                });
                break;
            case "platform":
                each(Executors.newCachedThreadPool(), () -> initialize(file));
                break;
            default:
                throw new IllegalArgumentException(name);
        }
        new CountDownLatch(1).await();
    }

    public static void main(String[] args) throws Exception {
        Program.run("carriers", () -> run(args[0]));
    }
}
