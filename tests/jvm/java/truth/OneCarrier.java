package truth;

import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * OneCarrier METHOD...: a virtual thread for each of these methods, which calls it over and over and lets the others go
 * on in between. Counters: their calls.
 */
public final class OneCarrier {
    private static double sink;

    private static void spin() {
        long end = System.nanoTime() + 1000000;
        double sum = 0;
        do {
            for (int i = 1; i < 1000; i++)
                sum += Math.sqrt(i);
        } while (System.nanoTime() < end);
        sink = sum;
    }

    static void naps() {
        LockSupport.parkNanos(20000000);
    }

    static void yields() {
        for (int i = 0; i < 20; i++)
            Thread.yield();
    }

    static void works() {
        spin();
    }

    private static void call(String method) {
        if (method.equals("naps"))
            naps();
        else if (method.equals("yields"))
            yields();
        else if (method.equals("works"))
            works();
        else
            spin();
    }

    public static void main(String[] args) throws Exception {
        // who has napped comes back by the queue for all, which a carrier looks at when its own is empty
        boolean parks = Arrays.asList(args).contains("naps");
        for (String method : args) {
            Runnable body = () -> {
                for (long calls = 1; !Program.ending; calls++) {
                    call(method);
                    Program.set(method, calls);
                    if (parks)
                        LockSupport.parkNanos(1000);
                    else
                        Thread.yield();
                }
            };
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        }
        Program.serve();
    }
}
