package truth;

import java.util.Random;

/**
 * COUNT threads that burn a little CPU time now and then and get other names at random, half of the times from another
 * thread. Each change is told: "RENAMED java-id name before after", both by System.nanoTime().
 */
public final class Renamed {
    private static Thread[] threads;

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        int pauseMs = Integer.parseInt(args[1]);
        threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            int seed = i;
            threads[i] = Program.thread("first-" + i, () -> burn(new Random(seed)));
        }
        Program.thread("renamer", () -> renameOthers(pauseMs));
        Program.serve();
    }

    private static void rename(Thread thread, String name) {
        long before = System.nanoTime();
        thread.setName(name);
        System.out.println("RENAMED " + thread.getId() + " " + name + " " + before + " " + System.nanoTime());
    }

    private static void renameOthers(int pauseMs) {
        Random random = new Random(7);
        for (long n = 0; !Program.stopping; n++) {
            Program.sleep(pauseMs);
            rename(threads[random.nextInt(threads.length)], "other-\"" + n);
        }
    }

    private static void burn(Random random) {
        Thread self = Thread.currentThread();
        for (long n = 0; !Program.stopping; n++) {
            long end = Program.cpu() + 3_000_000;
            while (Program.cpu() < end) {
                Program.sink = Program.work(2_000);
            }
            Program.sleep(random.nextInt(threads.length * 6) + 20);
            if (random.nextInt(8) == 0) {
                rename(self, "self-" + self.getId() + "-" + n);
            }
        }
    }
}
