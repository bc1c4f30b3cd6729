package truth;

/** Busy threads whose names hold what names can hold. */
public final class ThreadNames {
    private ThreadNames() {
    }

    public static void main(String[] args) throws Exception {
        String[] names = {"euro \u20ac", "clef \ud834\udd1e", "lone \ud834 end", "two\nlines"};

        for (String name : names) {
            Program.thread(name, () -> {
                while (!Program.stopping) {
                    Program.sink = Program.work(1000);
                }
            });
        }
        Program.serve();
    }
}
