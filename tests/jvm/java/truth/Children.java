package truth;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Starts one child after the other, each of which tells the signals that it was born with ignored,
 * blocked or pending, and works beside that. Counters: children, failed, and `ignored`, `blocked`,
 * `pending`: the sets of the last child as numbers.
 */
public final class Children {
    private Children() {
    }

    public static void main(String[] args) throws Exception {
        Program.set("failed", 0);
        Program.thread("children", () -> {
            while (!Program.stopping) {
                try {
                    child();
                } catch (Exception e) {
                    Program.count("failed", 1);
                }
            }
        });
        Program.thread("work", () -> {
            while (!Program.stopping) {
                Program.sink = Program.work(10_000);
            }
        });
        Program.serve();
    }

    private static void child() throws Exception {
        Process process = new ProcessBuilder("grep", "^Sig[IBP]\\|^ShdPnd", "/proc/self/status").start();
        BufferedReader in = new BufferedReader(new InputStreamReader(process.getInputStream()));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split("\\s+");
            long set = Long.parseUnsignedLong(words[1], 16);
            switch (words[0]) {
                case "SigIgn:": Program.max("ignored", set); break;
                case "SigBlk:": Program.max("blocked", set); break;
                case "SigPnd:": Program.max("pending", set); break;
                case "ShdPnd:": Program.max("pending", set); break;
                default:
            }
        }
        Program.count(process.waitFor() == 0 ? "children" : "failed", 1);
    }
}
