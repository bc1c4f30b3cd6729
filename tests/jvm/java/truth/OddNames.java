package truth;

/** Threads whose names try to break out of a line, a text in quotes, or UTF-8; each burns CPU time. */
public final class OddNames {
    static final String[] NAMES = {
        "line\nbreak", "quote\"and\\slash", "{\"kind\":\"drop\"}", "bang!and;semicolon", "nul\0byte", "lone\ud800surrogate",
        "pair\ud83d\ude00", "umlauts-üüüüüüüüüüüü", "esc\u001b[2J", new String(new char[400]).replace('\0', 'x'), "",
    };

    private static void burn() {
        while (!Program.stopping) {
            Program.sink = Program.work(2_000);
            Program.sleep(1);
        }
    }

    public static void main(String[] args) throws Exception {
        for (String name : NAMES) {
            Program.thread(name, OddNames::burn);
        }
        Program.serve();
    }
}
