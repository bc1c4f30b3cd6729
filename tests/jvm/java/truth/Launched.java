package truth;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A program for `record -- java`: works for some ms of CPU time, then copies a line of stdin to stdout
 * and stderr and exits. Arguments: ms, exit status.
 */
public final class Launched {
    public static void main(String[] args) throws Exception {
        long end = Program.cpu() + Long.parseLong(args[0]) * 1_000_000;
        while (Program.cpu() < end) {
            Program.sink = Program.work(10_000);
        }
        String line = new BufferedReader(new InputStreamReader(System.in)).readLine();
        System.out.println("out " + line);
        System.err.println("err " + line);
        System.exit(Integer.parseInt(args[1]));
    }
}
