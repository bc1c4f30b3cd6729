package truth;

import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * StringBuilder, regular expressions, lambdas and streams: deep inlining and intrinsic stubs. One
 * thread of each kind, or with the argument build, match or stream two threads of that kind.
 * Counter `units`: rounds.
 */
public final class Words {
    private static final Pattern DATE = Pattern.compile("(\\d{4})-(\\d\\d)-(\\d\\d)|([a-z]+)@([a-z.]+)");

    public static void main(String[] args) throws Exception {
        String kind = args.length > 0 ? args[0] : "";
        for (int i = 0; i < (kind.isEmpty() ? 1 : 2); i++) {
            if (kind.isEmpty() || kind.equals("build")) {
                Program.thread("words-build", () -> forever(Words::build));
            }
            if (kind.isEmpty() || kind.equals("match")) {
                Program.thread("words-match", () -> forever(Words::match));
            }
            if (kind.isEmpty() || kind.equals("stream")) {
                Program.thread("words-stream", () -> forever(Words::stream));
            }
        }
        Program.serve();
    }

    private static void forever(Runnable body) {
        while (!Program.stopping) {
            body.run();
            Program.count("units", 1);
        }
    }

    private static void build() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 2000; i++) {
            text.append("item ").append(i).append(", ").append(i * 0.5).append(';');
        }
        Program.sink = text.toString().hashCode() + text.indexOf("item 1999");
    }

    private static void match() {
        Matcher matcher = DATE.matcher("on 2026-11-21 operator@example.org wrote to other@example.com "
            + "about 1999-12-31 and more words that match nothing at all 12-34 x@ @y");
        int found = 0;
        while (matcher.find()) {
            found += matcher.group().length();
        }
        Program.sink = found;
    }

    private static void stream() {
        List<String> words = Arrays.asList("delta alpha gamma beta omega kappa sigma theta".split(" "));
        Function<String, String> twice = w -> w + w;
        Program.sink = words.stream().filter(w -> w.length() > 4).map(twice).map(String::toUpperCase)
            .sorted().collect(Collectors.joining(",")).hashCode();
    }
}
