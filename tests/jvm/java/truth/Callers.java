package truth;

/**
 * Callers THREADS ROUNDS: after "end" each thread makes ROUNDS rounds, in which `fast` is called once by `one` and three
 * times by `two`, `thrown` ends by an exception, and `deep` calls itself ten times; with a pause after every 50th.
 * Counters `ready`, `done`.
 */
public final class Callers {
    private static int x;

    private Callers() {
    }

    static void fast(int i) {
        x += i;
    }

    static void one() {
        fast(1);
    }

    static void two() {
        for (int i = 0; i < 3; i++)
            fast(i);
    }

    static void thrown() {
        throw new IllegalStateException();
    }

    static int deep(int n) {
        return n == 0 ? x : deep(n - 1) + 1;
    }

    private static void round() {
        one();
        two();
        deep(9);
        try {
            thrown();
        } catch (IllegalStateException e) {
            x++;
        }
    }

    private static void pause() {
        try {
            Thread.sleep(2);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void rounds(int count) {
        while (!Program.ending)
            Thread.yield();
        for (int i = 0; i < count; i++) {
            round();
            if (i % 50 == 0)
                pause();
        }
        Program.count("done", 1);
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        for (int i = 0; i < Integer.parseInt(args[0]); i++)
            Program.thread("caller-" + i, () -> rounds(count));
        Program.count("ready", 1);
        Program.serve();
    }
}
