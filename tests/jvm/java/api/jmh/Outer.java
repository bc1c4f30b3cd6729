package jmh;

/** As JMH has it: a class within its profiler, with natives for what it needs. */
public class Outer {
    public static final class JavaApi {
        public static void load(String path) {
            System.load(path);
        }

        public native void start0(String event, long interval, boolean reset);

        public native void stop0();

        public native String execute0(String command);

        public native long getSamples();

        public native void filterThread0(Thread thread, boolean enable);
    }
}
