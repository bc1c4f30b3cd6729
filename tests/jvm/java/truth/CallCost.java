package truth;

import java.util.concurrent.atomic.AtomicLong;

/** Calls, and what one costs in CPU time: gauge `call_ns`, the least of the last looks; counter `calls`. */
public final class CallCost {
    private static final int CALLS = 2_000;
    private static final AtomicLong LEAST = new AtomicLong(Long.MAX_VALUE);

    private CallCost() {
    }

    static long call(long x) {
        return x * 31 + (x >>> 7);
    }

    private static void calls() {
        long x = 1, looks = 0;
        while (!Program.stopping) {
            long begin = Program.cpu();
            for (int i = 0; i < CALLS; i++) {
                x = call(x);
            }
            long cost = (Program.cpu() - begin) / CALLS;
            Program.sink = x;
            Program.count("calls", CALLS);
            if (++looks % 50 == 0) {
                LEAST.set(cost); // what is so now
            } else {
                LEAST.accumulateAndGet(cost, Math::min);
            }
            Program.sleep(1);
        }
    }

    public static void main(String[] args) throws Exception {
        Program.gauge("call_ns", LEAST::get);
        Program.thread("calls", CallCost::calls);
        Program.serve();
    }
}
