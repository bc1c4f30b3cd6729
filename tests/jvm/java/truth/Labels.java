package truth;

import java.util.Arrays;
import jstrobe.context.SampleContext;

/** Asks for ever more sets of labels, as a program that takes them from its requests does. Args: sets, characters each. */
public final class Labels {
    /* two texts with one hash (FNV-1a, 64 bits) */
    private static final String ONE = "8yn0iYCKYHlIj4-BwPqk";
    private static final String OTHER = "GReLUrM4wMqfg9yzV3KQ";

    public static void main(String[] args) throws Exception {
        int sets = Integer.parseInt(args[0]);
        char[] text = new char[Integer.parseInt(args[1])];
        long one = SampleContext.labels(ONE, "x");
        long other = SampleContext.labels(OTHER, "x");
        check(one != 0 && other != 0 && one != other, "two sets with one number");
        check(SampleContext.labels(ONE, "x") == one && SampleContext.labels(OTHER, "x") == other, "another number");
        check(SampleContext.labels() == 0 && SampleContext.labelsRefused() == 0, "refused");
        Arrays.fill(text, 'x');
        long known = 0;
        for (int i = 0; i < sets; i++) {
            known += SampleContext.labels("key", new String(text) + i) != 0 ? 1 : 0;
        }
        Program.set("known", known);
        Program.gauge("refused", SampleContext::labelsRefused);
        Thread spent = Program.thread("other", () -> {
            while (!Program.stopping) {
                SampleContext.set(1, 2, 3, other);
                Program.sink = Program.work(10_000);
            }
        });
        Program.serve();
        spent.join();
    }

    private static void check(boolean right, String what) {
        if (!right) {
            throw new IllegalStateException(what);
        }
    }
}
