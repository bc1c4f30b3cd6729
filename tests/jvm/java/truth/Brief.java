package truth;

import java.util.ArrayList;
import java.util.List;

/**
 * Lives for args[0] ms, in which it runs, collects garbage, loads classes, starts threads; then it ends as args[1] says: by
 * "return", "exit", or "halt".
 */
public final class Brief {
    private Brief() {
    }

    private static void live(long until) throws Exception {
        List<Object> kept = new ArrayList<Object>();
        for (int round = 0; System.nanoTime() < until; round++) {
            kept.add(new byte[10_000]);
            if (round % 50 == 0) {
                System.gc();
                kept.clear();
            }
            if (round % 20 == 0) {
                final int number = round;
                Thread thread = new Thread(() -> kept.contains(number));
                thread.start();
                thread.join();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        live(System.nanoTime() + Long.parseLong(args[0]) * 1_000_000);
        if (args[1].equals("exit")) {
            System.exit(0);
        } else if (args[1].equals("halt")) {
            Runtime.getRuntime().halt(0);
        }
    }
}
