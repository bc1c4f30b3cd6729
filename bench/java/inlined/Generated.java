import org.codehaus.janino.SimpleCompiler;

/** Code that is generated and compiled at run time, as Spark SQL does: filter, project, aggregate over rows in bytes. */
public final class Generated {
    public interface Stage {
        long run(byte[] rows, int count);
    }

    private static final String CODE = "public class Made implements Generated.Stage {\n"
            + " private final long[] sums = new long[1024];\n"
            + " private static int getInt(byte[] b, int at) { return (b[at] & 255) | (b[at + 1] & 255) << 8"
            + " | (b[at + 2] & 255) << 16 | (b[at + 3] & 255) << 24; }\n"
            + " private boolean keep(byte[] b, int at) { int a = getInt(b, at); return a % 7 != 0 && getInt(b, at + 4) > 100; }\n"
            + " private int group(byte[] b, int at) { int h = getInt(b, at + 8) * -862048943; h = (h << 15) | (h >>> 17);"
            + " h *= 461845907; h ^= h >>> 13; return h & 1023; }\n"
            + " private long project(byte[] b, int at) { return (long) getInt(b, at) * getInt(b, at + 4) / (1 + (getInt(b, at + 8) & 15)); }\n"
            + " private void add(int g, long v) { sums[g] += v; }\n"
            + " private void row(byte[] b, int at) { if (keep(b, at)) { add(group(b, at), project(b, at)); } }\n"
            + " public long run(byte[] rows, int count) { for (int i = 0; i < count; i++) { row(rows, i * 12); }\n"
            + "  long s = 0; for (int i = 0; i < 1024; i++) { s ^= sums[i]; } return s; }\n}\n";

    public static void main(String[] args) throws Exception {
        SimpleCompiler compiler = new SimpleCompiler();
        compiler.setParentClassLoader(Generated.class.getClassLoader());
        compiler.cook(CODE);
        Stage stage = (Stage) compiler.getClassLoader().loadClass("Made").getDeclaredConstructor().newInstance();
        byte[] rows = new byte[12 * 50_000];
        new java.util.Random(3).nextBytes(rows);
        Steady.run(() -> stage.run(rows, 50_000));
    }
}
