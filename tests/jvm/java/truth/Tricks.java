package truth;

/**
 * A native library's tricks with signals, stacks, threads, images and children, each played over and over
 * by a thread of its own. Arguments: library, a copy of it to load and unload, tricks joined by +.
 * Counters: a trick's name for each time it worked, `failed` for each time it did not.
 */
public final class Tricks {
    private interface Trick {
        int play();
    }

    private Tricks() {
    }

    public static native int segv();

    public static native int nowhere();

    public static native int handled();

    public static native int alternate();

    public static native int raw();

    public static native int vforked();

    public static native int forked();

    public static native int loaded(String path);

    public static native int blocked();

    public static native int attached();

    public static native int crowded();

    public static native int half();

    public static native int crash();

    public static native int aborted();

    private static volatile Object sink;

    private static int garbage() {
        for (int i = 0; i < 2000; i++) {
            sink = new byte[20000];
        }
        return 0;
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        for (String name : args[2].split("\\+")) {
            Trick trick = find(name, args[1]);
            Program.thread("trick-" + name, () -> {
                while (!Program.stopping) {
                    int result = trick.play();
                    Program.count(result == 0 ? name : "failed", 1);
                    if (result != 0) {
                        System.err.println("FAILED " + name + " " + result);
                    }
                }
            });
        }
        Program.set("failed", 0);
        Program.serve();
    }

    private static Trick find(String name, String copy) {
        switch (name) {
            case "segv": return Tricks::segv;
            case "nowhere": return Tricks::nowhere;
            case "handled": return Tricks::handled;
            case "alternate": return Tricks::alternate;
            case "raw": return Tricks::raw;
            case "vforked": return Tricks::vforked;
            case "forked": return Tricks::forked;
            case "loaded": return () -> loaded(copy);
            case "blocked": return Tricks::blocked;
            case "attached": return Tricks::attached;
            case "crowded": return Tricks::crowded;
            case "half": return Tricks::half;
            case "garbage": return Tricks::garbage;
            default: throw new IllegalArgumentException(name);
        }
    }
}
