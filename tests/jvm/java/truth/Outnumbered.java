package truth;

/**
 * args[0] threads that from "begin" on call around(), and that works(), args[1] times, for args[2] µs by the program's
 * own clock; after each third call a thread sleeps for a ms. Counters, in ns: inside: from works()' begin to its end; ran: CPU
 * time of that; beside: what around() took beyond it; cpu: of all threads; done.
 */
public final class Outnumbered {
    private long began, ended, inside, ran, beside;

    private Outnumbered() {
    }

    long works(long us) {
        began = System.nanoTime();
        long cpu = Program.cpu(), x = 0;
        for (ended = began; ended < began + us * 1000; ended = System.nanoTime()) {
            x++;
        }
        ran += Program.cpu() - cpu;
        ended = System.nanoTime();
        return x;
    }

    long around(long us) {
        long before = System.nanoTime();
        long x = works(us);
        long after = System.nanoTime();
        inside += ended - began;
        beside += after - before - (ended - began);
        return x;
    }

    private static void run(int calls, long us) {
        Outnumbered o = new Outnumbered();
        while (!Program.begun) {
            Program.sleep(1);
        }
        long cpu = Program.cpu();
        for (int i = 0; i < calls; i++) {
            Program.sink += o.around(us);
            if (i % 3 == 0) {
                Program.sleep(1);
            }
        }
        Program.count("cpu", Program.cpu() - cpu);
        Program.count("inside", o.inside);
        Program.count("ran", o.ran);
        Program.count("beside", o.beside);
        Program.count("done", 1);
    }

    public static void main(String[] args) throws Exception {
        int calls = Integer.parseInt(args[1]);
        long us = Long.parseLong(args[2]);
        for (int i = Integer.parseInt(args[0]); i > 0; i--) {
            Program.thread("works-" + i, () -> run(calls, us));
        }
        Program.serve();
    }
}
