package selftest;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The program of `jstrobe selftest`. It says "READY version TAB virtual machine TAB CPUs", then obeys lines: "run NAME MS
 * SEED" runs a scenario, tells what it measured itself, and says DONE. When stdin ends, so does the program.
 */
public final class Main {
    private static final int WARM_MS = 250;
    private static final String[] NAMES = {"shares", "waits", "locks", "calls", "virtual", "brief", "rhythm"};

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        for (String name : NAMES) {
            if (!name.equals("virtual") || hasVirtual()) {
                run(name, WARM_MS, 1, new Truth());
            }
        }
        System.out.println("READY " + System.getProperty("java.version") + "\t" + System.getProperty("java.vm.name") + "\t"
                + Runtime.getRuntime().availableProcessors());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            final String[] words = line.split(" ");
            Work.start("selftest", new Work.Body() {
                @Override
                public void run() throws Exception {
                    Truth truth = new Truth();
                    Main.run(words[1], Integer.parseInt(words[2]), Long.parseLong(words[3]), truth);
                    truth.print();
                    System.out.println("DONE");
                }
            });
        }
        System.exit(0);
    }

    private static boolean hasVirtual() {
        try {
            Thread.class.getMethod("startVirtualThread", Runnable.class);
            return !System.getProperty("java.version").matches("(19|20)\\b.*");
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    static void run(String name, int ms, long seed, Truth truth) throws Exception {
        long end = System.nanoTime() + ms * 1_000_000L;
        Random random = new Random(seed);
        List<Thread> threads = new ArrayList<>();
        for (Scenario scenario : named(name)) {
            scenario.start(end, truth, random, threads);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** All that can be sampled at once is "mixed". */
    private static Scenario[] named(String name) {
        switch (name) {
            case "shares": return new Scenario[] {new Shares()};
            case "waits": return new Scenario[] {new Waits()};
            case "locks": return new Scenario[] {new Locks()};
            case "calls": return new Scenario[] {new Calls(1)};
            case "crowd": return new Scenario[] {new Calls(3 * Runtime.getRuntime().availableProcessors())};
            case "brief": return new Scenario[] {new Brief()};
            case "rhythm": return new Scenario[] {new Rhythm()};
            case "virtual": return new Scenario[] {new Virtual()};
            case "mixed": return new Scenario[] {new Shares(), new Waits(), new Locks()};
            default: throw new IllegalArgumentException(name);
        }
    }
}
