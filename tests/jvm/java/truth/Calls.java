package truth;

/**
 * Calls ROUNDS [THREADS [VIRTUAL [WARM]]]: known numbers of calls of every kind, after "end" was said: rounds,
 * then short threads and virtual threads. WARM rounds come before. Counters `ready`, `done`.
 */
public final class Calls {
    static int sink;
    static volatile int guard;

    /* ---- a call-bound tree ---- */

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int chain(int x) {
        return one(x) + 1;
    }

    static int one(int x) {
        return two(x) * 3;
    }

    static int two(int x) {
        return three(x) ^ 5;
    }

    static int three(int x) {
        return x + guard;
    }

    /* about 80 ns */
    static int leaf(int x) {
        for (int i = 0; i < 64; i++)
            x = x * 31 + (x >>> 7);
        return x;
    }

    /* ---- exceptions ---- */

    static class Known extends RuntimeException {
        Known() {
            super("known", null, false, false);
        }
    }

    static void thrower(int x) {
        if (x >= 0)
            throw new Known();
    }

    static void through(int x) {
        thrower(x);
        sink++;
    }

    static int catcher(int x) {
        try {
            through(x);
            return 0;
        } catch (Known e) {
            return after(x);
        }
    }

    static int after(int x) {
        return x + 1;
    }

    static int ownCatch(int x) {
        try {
            if (x >= 0)
                throw new Known();
        } catch (Known e) {
            sink += x;
        } finally {
            sink++;
        }
        return sink;
    }

    static void overflow(int depth) {
        overflow(depth + 1);
    }

    static int overflowed(int x) {
        try {
            overflow(0);
            return 0;
        } catch (StackOverflowError e) {
            return after(x);
        }
    }

    /* ---- constructors ---- */

    static class Base {
        final int x;

        Base(int x) {
            if (x % 3 == 2)
                throw new Known();
            this.x = x;
        }
    }

    static final class Made extends Base {
        Made(int x) {
            super(x < 0 ? after(x) : x);
            if (x % 3 == 1)
                throw new Known();
        }

        Made(String text) {
            this(text.length() * 3);
        }
    }

    static int make(int x) {
        try {
            return new Made(x).x;
        } catch (Known e) {
            return after(x);
        }
    }

    /* ---- interfaces, locks, switches ---- */

    interface Shape {
        int area(int x);

        default int twice(int x) {
            return area(x) + area(x);
        }

        static Shape square() {
            return x -> x * x;
        }
    }

    static synchronized int locked(int x) {
        return x + guard;
    }

    synchronized int lockedToo(int x) {
        if (x % 7 == 0)
            throw new Known();
        return x;
    }

    static long wide(long a, double b, int c) {
        switch (c % 4) {
        case 0:
            return a;
        case 1:
            return (long) b;
        case 2:
            return a + c;
        default:
            return c;
        }
    }

    /* ---- one round: what it calls is counted in test_trace.py ---- */

    static void round(Calls self, Shape shape) {
        sink += fib(15);
        for (int i = 0; i < 1000; i++) {
            sink += chain(i) + leaf(i) + catcher(i) + ownCatch(i) + make(i) + shape.twice(i) + locked(i);
            sink += (int) wide(i, i, i);
            try {
                sink += self.lockedToo(i);
            } catch (Known e) {
                sink++;
            }
        }
        sink += new Made("abc").x;
        sink += overflowed(1);
    }

    static void rounds(int count) {
        Calls self = new Calls();
        for (int i = 0; i < count; i++)
            round(self, Shape.square());
    }

    /** What each short thread runs. */
    static void shortLived() {
        for (int i = 0; i < 10; i++)
            sink += chain(i);
    }

    /** THREADS threads one after the other, two at a time. */
    static void shortThreads(int threads) throws InterruptedException {
        Thread last = null;
        for (int i = 0; i < threads; i++) {
            Thread next = new Thread(Calls::shortLived);
            next.start();
            if (last != null)
                last.join();
            last = next;
        }
        if (last != null)
            last.join();
    }

    /** Sleeps within a call, so that it goes on on another carrier. */
    static void virtualBody() {
        for (int i = 0; i < 5; i++) {
            sink += chain(i);
            Program.sleep(1);
        }
        shortLived();
    }

    static void virtualThreads(int threads) throws Exception {
        if (threads == 0)
            return;
        java.lang.reflect.Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        java.util.concurrent.CountDownLatch all = new java.util.concurrent.CountDownLatch(threads);
        Runnable body = () -> {
            virtualBody();
            all.countDown();
        };
        for (int i = 0; i < threads; i++)
            start.invoke(null, body);
        all.await();
    }

    static void run(int count, int threads, int virtual) {
        try {
            rounds(count);
            shortThreads(threads);
            virtualThreads(virtual);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int[] numbers = new int[4];
        for (int i = 0; i < args.length; i++)
            numbers[i] = Integer.parseInt(args[i]);
        Program.thread("calls", () -> {
            run(numbers[3], 0, 0); // warm or not, when tracing begins
            Program.set("ready", 1);
            while (!Program.ending)
                Program.sleep(1);
            run(numbers[0], numbers[1], numbers[2]);
            Program.set("done", 1);
        });
        Program.serve();
    }
}
