package truth;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Does on request what the kernel counts: "calls 100", "faults 100", "waits 100", "windows 100", on a thread of its own. */
public final class Events {
    private static native void calls(long n);

    private static native void faults(long pages);

    private static native void waits(long n);

    private static native void windows(long n);

    private static void obey(String word, long n) {
        switch (word) {
            case "calls":
                calls(n);
                break;
            case "faults":
                faults(n);
                break;
            case "windows":
                windows(n);
                break;
            default:
                waits(n);
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Object turn = new Object();
        String[] todo = new String[1];
        Program.thread("events", () -> {
            for (;;) {
                String[] words;
                synchronized (turn) {
                    while (todo[0] == null) {
                        try {
                            turn.wait();
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                    words = todo[0].split(" ");
                    todo[0] = null;
                }
                obey(words[0], Long.parseLong(words[1]));
                System.out.println("MARK");
            }
        });
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            synchronized (turn) {
                todo[0] = line;
                turn.notify();
            }
        }
        System.exit(0);
    }
}
