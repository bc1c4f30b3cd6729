package selftest;

/** Work that no compiler takes away, and the time until a scenario ends. */
final class Work {
    static volatile long sink;

    private Work() {
    }

    static long rounds(int rounds) {
        long x = sink | 1;
        for (int i = 0; i < rounds; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    /** Work until NS of real time have passed; how many have. */
    static long spin(long ns) {
        long begin = System.nanoTime(), now = begin;
        for (; now - begin < ns; now = System.nanoTime()) {
            sink = rounds(200);
        }
        return now - begin;
    }

    /** Work until NS of the thread's CPU time have passed; how many have. */
    static long burn(long ns) {
        long begin = Truth.cpu(), now = begin;
        for (; now - begin < ns; now = Truth.cpu()) {
            sink = rounds(1_000);
        }
        return now - begin;
    }

    static boolean before(long end) {
        return System.nanoTime() - end < 0;
    }

    /** A body that may throw; nothing that it throws may pass unseen. */
    interface Body {
        void run() throws Exception;
    }

    static Thread start(String name, final Body body) {
        Thread thread = new Thread(new Runnable() {
            @Override
            public void run() {
                Work.run(body);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void run(Body body) {
        try {
            body.run();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
