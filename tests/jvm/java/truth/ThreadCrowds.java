package truth;

/**
 * From "end" on crowds of threads (how many is the argument), which are born together, work for a moment and end.
 * Counter: crowds.
 */
public final class ThreadCrowds {
    private ThreadCrowds() {
    }

    public static void main(String[] args) throws Exception {
        int size = Integer.parseInt(args[0]);
        Program.thread("maker", () -> {
            while (!Program.stopping) {
                if (Program.ending) {
                    crowd(size);
                    Program.count("crowds", 1);
                } else {
                    Program.sleep(1);
                }
            }
        });
        Program.serve();
    }

    private static void crowd(int size) {
        Thread[] threads = new Thread[size];
        for (int i = 0; i < size; i++) {
            threads[i] = Program.thread("crowd-" + i, () -> Program.sink = Program.work(20_000));
        }
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
