package shaded.far;

/** async-profiler's class as those have it who take it along: in a package of their own. */
public class Away {
    public static void load(String path) {
        System.load(path);
    }

    public static void loadByRuntime(String path) {
        Runtime.getRuntime().load(path);
    }

    public native void start0(String event, long interval, boolean reset);

    public native void stop0();

    public native String execute0(String command);

    public native byte[] execute1(String command);

    public native long getSamples();

    public native void filterThread0(Thread thread, boolean enable);
}
