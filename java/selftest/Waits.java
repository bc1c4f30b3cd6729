package selftest;

import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** Wall-clock time. Two threads that wait in every way, each in a method of its own, and work between. */
final class Waits implements Scenario {
    @Override
    public void start(final long end, final Truth truth, Random random, List<Thread> threads) throws Exception {
        for (int i = 0; i < 2; i++) {
            final Pair pair = new Pair(new Random(random.nextLong()));
            threads.add(Work.start("selftest-waits-" + i, new Work.Body() {
                @Override
                public void run() throws Exception {
                    pair.loop(end, truth);
                }
            }));
            threads.add(Work.start("selftest-helper-" + i, new Work.Body() {
                @Override
                public void run() throws Exception {
                    pair.help();
                }
            }));
        }
    }

    /** A thread that waits, and its helper, which makes it wait. */
    private static final class Pair {
        private static final int HOLD = 1, WRITE = 2, END = 3;
        private static final String[] WAYS = {"sleeps", "waits", "parks", "blocks", "reads", "works"};
        private final Object never = new Object(), lock = new Object(), asked = new Object();
        private final Pipe pipe = Pipe.open();
        private final ByteBuffer one = ByteBuffer.allocate(1);
        private final Random random;
        private int request; // of the helper, guarded by `asked`
        private long length;

        Pair(Random random) throws Exception {
            this.random = random;
        }

        private int ms() {
            return 4 + random.nextInt(20);
        }

        void loop(long end, Truth truth) throws Exception {
            long began = System.nanoTime();
            long[] sums = new long[WAYS.length], delays = new long[WAYS.length];
            long rounds = 0;
            Delay delay = new Delay();
            for (; Work.before(end); rounds++) {
                for (int i = 0; i < WAYS.length; i++) {
                    prepare(i);
                    long late = delay.now(), at = System.nanoTime();
                    step(i);
                    sums[i] += System.nanoTime() - at;
                    delays[i] += delay.now() - late;
                }
            }
            delay.close();
            ask(END, 0);
            for (int i = 0; i < WAYS.length; i++) {
                truth.add("wall." + WAYS[i], sums[i], rounds, delays[i]);
            }
            truth.add("wall.loop", System.nanoTime() - began, 1);
        }

        private void prepare(int way) throws Exception {
            if (way == 3) {
                ask(HOLD, ms());
            } else if (way == 4) {
                ask(WRITE, ms());
            }
        }

        private void step(int way) throws Exception {
            switch (way) {
                case 0: sleeps(ms()); break;
                case 1: waits(ms()); break;
                case 2: parks(ms()); break;
                case 3: blocks(); break;
                case 4: reads(); break;
                default: works(ms()); break;
            }
        }

        private void sleeps(int ms) throws Exception {
            Thread.sleep(ms);
        }

        private void waits(int ms) throws Exception {
            synchronized (never) {
                never.wait(ms);
            }
        }

        private void parks(int ms) {
            LockSupport.parkNanos(ms * 1_000_000L);
        }

        private void blocks() {
            synchronized (lock) {
                Work.sink++;
            }
        }

        private void reads() throws Exception {
            one.clear();
            pipe.source().read(one);
        }

        private void works(int ms) {
            Work.spin(ms * 1_000_000L);
        }

        /** Returns when the helper has the lock, or is about to write, or to end. */
        private void ask(int what, int ms) throws Exception {
            synchronized (asked) {
                request = what;
                length = ms;
                asked.notifyAll();
                while (request != 0) {
                    asked.wait();
                }
            }
        }

        private void taken() {
            synchronized (asked) {
                request = 0;
                asked.notifyAll();
            }
        }

        void help() throws Exception {
            for (;;) {
                int what;
                long ms;
                synchronized (asked) {
                    while (request == 0) {
                        asked.wait();
                    }
                    what = request;
                    ms = length;
                }
                if (what == END) {
                    taken();
                    return;
                } else if (what == HOLD) {
                    synchronized (lock) {
                        taken();
                        Thread.sleep(ms);
                    }
                } else {
                    taken();
                    Thread.sleep(ms);
                    pipe.sink().write(ByteBuffer.allocate(1));
                }
            }
        }
    }
}
