package truth;

/** Threads that live about 2 ms, one after the other from two makers. Counters: threads, cpu. */
public final class ThreadChurn {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2; i++) {
            int maker = i;
            Program.thread("maker-" + i, () -> {
                for (int n = 0; !Program.stopping; n++) {
                    Thread thread = Program.thread("short-" + maker + "-" + n % 100, ThreadChurn::burst);
                    try {
                        thread.join();
                    } catch (InterruptedException e) {
                        return;
                    }
                    Program.count("threads", 1);
                }
            });
        }
        Program.serve();
    }

    private static void burst() {
        long begin = Program.cpu();
        while (Program.cpu() - begin < 2_000_000) {
            Program.sink = Program.work(5_000);
        }
        Program.count("cpu", Program.cpu());
    }
}
