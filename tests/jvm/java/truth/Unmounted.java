package truth;

import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads (JDK 21+, started by reflection), each of which waits in one way over and over: enterer to enter a
 * monitor, appender one of a method of the JDK, both of which a platform thread has nearly all the time, asleep; waiter
 * in Object.wait, sleeper in Thread.sleep, parker in parkNanos. Counters: how often.
 */
public final class Unmounted {
    private static final Object MONITOR = new Object(), SIGNAL = new Object();
    private static final StringBuffer TEXT = new StringBuffer();

    private Unmounted() {
    }

    private interface Body {
        void once() throws InterruptedException;
    }

    private static void enter() {
        synchronized (MONITOR) {
            Program.sink++;
        }
    }

    private static void append() {
        TEXT.setLength(0);
    }

    private static void await() throws InterruptedException {
        synchronized (SIGNAL) {
            SIGNAL.wait(20);
        }
    }

    private static void hold() throws InterruptedException {
        synchronized (MONITOR) {
            synchronized (TEXT) {
                Thread.sleep(30);
            }
        }
        Thread.sleep(1);
    }

    private static Runnable loop(String name, Body body) {
        return () -> {
            try {
                for (long times = 1; !Program.stopping; times++) {
                    body.once();
                    Program.set(name, times);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
    }

    private static void virtual(String name, Body body) throws Exception {
        Class<?> builders = Class.forName("java.lang.Thread$Builder");
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);

        builder = builders.getMethod("name", String.class).invoke(builder, name);
        builders.getMethod("start", Runnable.class).invoke(builder, loop(name, body));
    }

    public static void main(String[] args) throws Exception {
        virtual("enterer", Unmounted::enter);
        virtual("appender", Unmounted::append);
        virtual("waiter", Unmounted::await);
        virtual("sleeper", () -> Thread.sleep(20));
        virtual("parker", () -> LockSupport.parkNanos(20_000_000));
        Program.thread("holder", loop("holder", Unmounted::hold));
        Program.serve();
    }
}
