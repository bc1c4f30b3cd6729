package truth;

import java.lang.reflect.Method;

/**
 * Threads that spell their own number (see truth.Churn) and end: argument `platform` and how many a
 * second, or `virtual` (JDK 21+) and how many at once, which then sleep and spell again until the end.
 * Platform threads are called storm-&lt;number&gt;; virtual ones spell their thread id.
 * Counter: threads.
 */
public final class ThreadStorm {
    private ThreadStorm() {
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        if (args[0].equals("virtual")) {
            virtual(count);
        } else {
            Program.thread("maker", () -> platform(count));
        }
        Program.serve();
    }

    private static void platform(int each) {
        long begin = System.nanoTime();
        for (int n = 1; !Program.stopping; n++) {
            int number = n % 1_000_000;
            Program.thread(String.format("storm-%06d", number), () -> Churn.burn(number));
            Program.count("threads", 1);
            while (System.nanoTime() - begin < 1_000_000_000L / each * n) {
                Program.sleep(1);
            }
        }
    }

    private static void virtual(int count) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Method start = Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class);
        for (int i = 0; i < count; i++) {
            start.invoke(builder, (Runnable) ThreadStorm::spell);
        }
    }

    private static void spell() {
        while (!Program.stopping) {
            Churn.burn((int) (Thread.currentThread().getId() % 1_000_000));
            Program.count("threads", 1);
            Program.sleep(100);
        }
    }
}
