import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** javac on the same source again and again, its output thrown away. */
public final class Javac {
    private static JavaFileObject source(int n) {
        StringBuilder b = new StringBuilder("import java.util.*; public class C" + n + " {\n");
        for (int i = 0; i < 60; i++) {
            b.append("  static <T extends Comparable<T>> List<T> m" + i + "(Map<String, List<T>> in, int k) {\n"
                    + "    List<T> out = new ArrayList<>(); for (Map.Entry<String, List<T>> e : in.entrySet()) {\n"
                    + "      for (T t : e.getValue()) { if (out.size() < k && e.getKey().length() > " + i + ") out.add(t); }\n"
                    + "    } out.sort((a, c) -> a.compareTo(c)); int s = k * " + i + " + out.size();\n"
                    + "    switch (s % 5) { case 0: return out; case 1: s += k << 3; break; default: s ^= 7; }\n"
                    + "    String text = \"v\" + s + out; return text.isEmpty() ? new ArrayList<T>(out) : out; }\n");
        }
        String text = b.append("}\n").toString();
        return new SimpleJavaFileObject(URI.create("string:///C" + n + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignore) {
                return text;
            }
        };
    }

    public static void main(String[] args) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavaFileManager files = new ForwardingJavaFileManager<JavaFileManager>(
                compiler.getStandardFileManager(null, null, null)) {
            @Override
            public JavaFileObject getJavaFileForOutput(Location l, String name, JavaFileObject.Kind k,
                                                       javax.tools.FileObject f) {
                return new SimpleJavaFileObject(URI.create("mem:///" + name.replace('.', '/') + k.extension), k) {
                    @Override
                    public OutputStream openOutputStream() {
                        return new ByteArrayOutputStream();
                    }
                };
            }
        };
        List<JavaFileObject> sources = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            sources.add(source(i));
        }
        Steady.run(() -> compiler.getTask(null, files, null, null, null, sources).call() ? 1 : 0);
    }
}
