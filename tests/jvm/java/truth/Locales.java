package truth;

/**
 * A program whose native library calls setlocale(LC_ALL, NAME), as AWT and others do. Arguments: the library, NAME,
 * and perhaps a folder with texts of libc's errors in that language.
 * Prints "LOCALE chosen point": whether it could, and the code of the character between 2 and 73; "ERRORS text": how
 * that language says ENOENT.
 */
public final class Locales {
    private Locales() {
    }

    private static native boolean choose(String name);

    private static native int point();

    private static native String errors(String folder);

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        boolean chosen = choose(args[1]);
        System.out.println("LOCALE " + chosen + " " + point());
        if (args.length > 2) {
            System.out.println("ERRORS " + errors(args[2]));
        }
        Program.thread("worker", Locales::loop);
        Program.serve();
    }

    private static void loop() {
        while (!Program.stopping) {
            step();
        }
    }

    private static void step() {
        Program.sink = Program.work(20_000);
        Program.count("steps", 1);
    }
}
