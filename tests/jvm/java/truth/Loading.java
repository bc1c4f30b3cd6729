package truth;

import java.io.File;

/**
 * A class whose super class takes long to load. After "end" a thread loads Late by a class loader of its own, which
 * waits with the super class Early until the file exists that the argument names; `blocked` is 1 from then on. Then it calls
 * Late.run for ever: `calls`.
 */
public final class Loading {
    public static class Early {
    }

    public static final class Late extends Early implements Runnable {
        static volatile long runs;

        @Override public void run() {
            runs++;
        }
    }

    /** Loads the two itself. */
    private static final class Loader extends ClassLoader {
        private final File go;

        Loader(File go) {
            super(Loading.class.getClassLoader());
            this.go = go;
        }

        @Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            boolean early = name.equals("truth.Loading$Early");
            if (!early && !name.equals("truth.Loading$Late")) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            if (early) {
                Program.set("blocked", 1);
                while (!go.exists()) {
                    Program.sleep(5);
                }
            }
            try {
                byte[] bytes = Program.classFile(name.substring("truth.".length()) + ".class");
                return defineClass(name, bytes, 0, bytes.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private Loading() {
    }

    private static void load(File go) {
        while (!Program.ending) {
            Program.sleep(5);
        }
        try {
            Runnable late = (Runnable) new Loader(go).loadClass("truth.Loading$Late").getDeclaredConstructor().newInstance();
            while (!Program.stopping) {
                for (int i = 0; i < 1000; i++) {
                    late.run();
                }
                Program.count("calls", 1000);
                other();
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Something else to trace. */
    private static void other() {
        Program.sleep(1);
    }

    public static void main(String[] args) throws Exception {
        Program.thread("loads", () -> load(new File(args[0])));
        Program.serve();
    }
}
