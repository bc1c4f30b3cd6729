package truth;

/**
 * Class initialisers: the same small class is loaded and initialised again and again by fresh
 * loaders; its static block burns. Classes get unloaded while they are sampled.
 */
public final class ClassInit {
    /** Loaded by Fresh, never by the application loader. */
    public static final class Burner {
        static {
            burn();
        }

        private static void burn() {
            for (int i = 0; i < 500; i++) {
                Program.sink = Program.work(5_000);
            }
        }
    }

    private static final class Fresh extends ClassLoader {
        private final byte[] bytes;

        Fresh(byte[] bytes) {
            super(ClassInit.class.getClassLoader());
            this.bytes = bytes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.endsWith("$Burner")) {
                return super.loadClass(name, resolve);
            }
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] bytes = Program.classFile("ClassInit$Burner.class");
        Program.thread("class-init", () -> {
            while (!Program.stopping) {
                initialise(bytes);
                Program.count("classes", 1);
            }
        });
        Program.serve();
    }

    private static void initialise(byte[] bytes) {
        try {
            Class.forName("truth.ClassInit$Burner", true, new Fresh(bytes));
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }
}
