package truth;

/**
 * Mappings whose bytes are known, made by native methods (tests/jvm/native/mappings.c) in turn, each named in the
 * arguments behind the library's path, when "begin" was said. Counters: each method's name is 1 when it worked, `failed`
 * what it returned else; `done` at the end.
 */
public final class NativeMaps {
    private NativeMaps() {
    }

    public static native int keep();

    public static native int parts();

    public static native int reserve();

    public static native int resize();

    public static native int failing();

    public static native int other();

    public static native int crossed();

    public static native int handlers();

    private static void play(String name) {
        try {
            int result = (int) NativeMaps.class.getMethod(name).invoke(null);
            Program.set(result == 0 ? name : "failed", result == 0 ? 1 : result);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Program.thread("mapper", () -> {
            while (!Program.begun) {
                Program.sleep(1);
            }
            for (int i = 1; i < args.length; i++) {
                play(args[i]);
            }
            Program.set("done", 1);
        });
        Program.serve();
    }
}
