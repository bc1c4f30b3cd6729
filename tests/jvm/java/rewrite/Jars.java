package rewrite;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Jars REWRITER [asm] JAR...: each class of the jars, rewritten, is verified by the JVM (run it with
 * -Xverify:all) and, if asked for, by the JDK's own copy of ASM's CheckClassAdapter. A class that
 * neither verifier accepts as it was says nothing about the rewriter and is only counted.
 */
public final class Jars {
    private static final String ASM = "jdk.internal.org.objectweb.asm.";

    /** Gives the classes of all jars, with or without probes. */
    static final class Loader extends ClassLoader {
        private final Map<String, byte[]> classes;

        Loader(Map<String, byte[]> classes) {
            super(Jars.class.getClassLoader());
            this.classes = classes;
        }

        @Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                byte[] bytes = classes.get(name);
                if (known == null)
                    known = bytes == null ? super.loadClass(name, false) : defineClass(name, bytes, 0, bytes.length);
                return known;
            }
        }
    }

    static byte[] read(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] piece = new byte[1 << 14];
        for (int n; (n = in.read(piece)) > 0;)
            out.write(piece, 0, n);
        return out.toByteArray();
    }

    private static void add(String jar, Map<String, byte[]> classes) throws IOException {
        try (JarFile file = new JarFile(jar)) {
            for (Enumeration<JarEntry> e = file.entries(); e.hasMoreElements();) {
                JarEntry entry = e.nextElement();
                String name = entry.getName();
                if (!name.endsWith(".class") || name.startsWith("META-INF/") || name.endsWith("module-info.class"))
                    continue;
                try (InputStream in = file.getInputStream(entry)) {
                    classes.put(name.substring(0, name.length() - 6).replace('/', '.'), read(in));
                }
            }
        }
    }

    /** What the JVM's verifier says of class NAME; "" if it is satisfied, null if it was not reached. */
    private static String link(String name, Loader loader) {
        try {
            Class.forName(name, false, loader).getDeclaredMethods(); // this links it, and no more
            return "";
        } catch (VerifyError | ClassFormatError e) {
            return e.toString();
        } catch (Throwable e) {
            return null; // something that it needs is not here
        }
    }

    /** What CheckClassAdapter says; null if it could not look. */
    static String check(byte[] bytes, ClassLoader loader) {
        StringWriter text = new StringWriter();
        try {
            Class<?> reader = Class.forName(ASM + "ClassReader");
            Object read = reader.getConstructor(byte[].class).newInstance((Object) bytes);
            Method verify = Class.forName(ASM + "util.CheckClassAdapter")
                .getMethod("verify", reader, ClassLoader.class, boolean.class, PrintWriter.class);
            verify.invoke(null, read, loader, false, new PrintWriter(text));
        } catch (ReflectiveOperationException | LinkageError e) {
            return null;
        }
        return text.toString();
    }

    public static void main(String[] args) throws IOException {
        boolean asm = args[1].equals("asm");
        Map<String, byte[]> plain = new LinkedHashMap<>();
        Map<String, byte[]> probed = new LinkedHashMap<>();
        List<String> wrong = new ArrayList<>();
        int linked = 0;
        int checked = 0;
        int unclear = 0;

        for (int i = asm ? 2 : 1; i < args.length; i++)
            add(args[i], plain);
        try (Rewriter rewriter = new Rewriter(args[0])) {
            for (Map.Entry<String, byte[]> e : plain.entrySet())
                probed.put(e.getKey(), rewriter.rewrite(e.getValue()));
            System.out.println("CLASSES=" + plain.size() + " METHODS=" + rewriter.methods
                               + " SKIPPED=" + rewriter.skipped + " LEFT=" + rewriter.left);
        }
        Loader before = new Loader(plain);
        Loader after = new Loader(probed);
        for (String name : plain.keySet()) {
            String said = link(name, after);
            if (said == null || (!said.isEmpty() && !"".equals(link(name, before))))
                unclear++;
            else if (said.isEmpty())
                linked++;
            else
                wrong.add(name + ": JVM: " + said);
            if (!asm)
                continue;
            said = check(probed.get(name), after);
            if (said != null && !said.isEmpty() && "".equals(check(plain.get(name), before)))
                wrong.add(name + ": ASM: " + said);
            else if ("".equals(said))
                checked++;
        }
        for (String line : wrong.subList(0, Math.min(5, wrong.size())))
            System.out.println(line);
        System.out.println("LINKED=" + linked + " CHECKED=" + checked + " UNCLEAR=" + unclear + " WRONG=" + wrong.size());
    }
}
