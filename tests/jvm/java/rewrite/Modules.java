package rewrite;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Modules REWRITER DIR [MODULE]...: writes the classes of the running JDK's modules, with probes in every
 * method, to DIR/MODULE/, for --patch-module. Without REWRITER ("-"): has the JVM load and link them all,
 * from wherever it gets them; with -Xverify:all that is the verdict. With -Dasm=true ASM looks at what is written.
 */
public final class Modules {
    private static List<Path> classes(Path module) throws IOException {
        try (Stream<Path> all = Files.walk(module)) {
            return all.filter(p -> p.toString().endsWith(".class") && !p.toString().endsWith("module-info.class"))
                .collect(Collectors.toList());
        }
    }

    private static List<Path> modules(String[] args) throws IOException {
        Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        if (args.length > 2) {
            List<Path> some = new ArrayList<>();
            for (int i = 2; i < args.length; i++)
                some.add(root.resolve(args[i]));
            return some;
        }
        try (Stream<Path> all = Files.list(root)) {
            return all.collect(Collectors.toList());
        }
    }

    private static void write(String[] args) throws IOException {
        int count = 0;
        int checked = 0;
        int unclear = 0;
        int wrong = 0;
        try (Rewriter rewriter = new Rewriter(args[0])) {
            for (Path module : modules(args))
                for (Path file : classes(module)) {
                    Path to = Paths.get(args[1], module.getFileName().toString(), module.relativize(file).toString());
                    Files.createDirectories(to.getParent());
                    byte[] bytes = rewriter.rewrite(Files.readAllBytes(file));
                    Files.write(to, bytes);
                    count++;
                    String said = Boolean.getBoolean("asm") ? Jars.check(bytes, ClassLoader.getSystemClassLoader()) : null;
                    if ("".equals(said))
                        checked++;
                    else if (said != null && !"".equals(Jars.check(Files.readAllBytes(file), ClassLoader.getSystemClassLoader())))
                        unclear++; // ASM has the same to say of the class as the JDK has it
                    else if (said != null && wrong++ < 5)
                        System.out.println(file + ": ASM: " + said);
                }
            System.out.println("CLASSES=" + count + " METHODS=" + rewriter.methods
                               + " SKIPPED=" + rewriter.skipped + " LEFT=" + rewriter.left
                               + " CHECKED=" + checked + " UNCLEAR=" + unclear + " WRONG=" + wrong);
        }
    }

    private static void link(String[] args) throws IOException {
        int linked = 0;
        int unclear = 0;
        int wrong = 0;
        for (Path module : modules(args))
            for (Path file : classes(module)) {
                String name = module.relativize(file).toString().replace('/', '.');
                name = name.substring(0, name.length() - 6);
                try {
                    Class.forName(name, false, ClassLoader.getSystemClassLoader()).getDeclaredMethods();
                    linked++;
                } catch (VerifyError | ClassFormatError e) {
                    if (wrong++ < 5)
                        System.out.println(name + ": " + e);
                } catch (Throwable e) {
                    unclear++;
                }
            }
        System.out.println("LINKED=" + linked + " UNCLEAR=" + unclear + " WRONG=" + wrong);
    }

    public static void main(String[] args) throws IOException {
        if (args[0].equals("-"))
            link(args);
        else
            write(args);
    }
}
