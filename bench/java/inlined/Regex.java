import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** java.util.regex over lines of a log. */
public final class Regex {
    public static void main(String[] args) throws Exception {
        Pattern[] patterns = {
            Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+)\\.(\\d+) - (\\w+|-) \\[([^]]+)\\] \"(GET|POST) ([^ ]+) HTTP/1\\.[01]\" (\\d{3}) (\\d+)"),
            Pattern.compile(".*\\b(error|fatal|warn\\w*)\\b.*", Pattern.CASE_INSENSITIVE),
            Pattern.compile("[a-z]+[0-9]*(/[a-z]+)*\\?(\\w+=\\w+&?)+"),
        };
        Random random = new Random(5);
        String[] lines = new String[500];
        for (int i = 0; i < lines.length; i++) {
            lines[i] = random.nextInt(256) + "." + random.nextInt(256) + ".1." + random.nextInt(256)
                    + " - user" + i % 7 + " [24/Nov/2026:10:00:" + i % 60 + "] \"GET /path/item" + i
                    + "/view?a=" + i + "&b=x" + i + " HTTP/1.1\" " + (i % 10 == 0 ? 500 : 200) + " " + i * 31
                    + (i % 20 == 0 ? " Error: something" : "");
        }
        Steady.run(() -> {
            long sum = 0;
            for (String line : lines) {
                for (Pattern p : patterns) {
                    Matcher m = p.matcher(line);
                    while (m.find()) {
                        sum += m.end();
                    }
                }
            }
            return sum;
        });
    }
}
