package truth;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A program that has loaded and linked very many classes as they are in real life: those of the JDK. Arguments: how many, and
 * how their names may begin ("com/sun/"). Counter `classes`.
 */
public final class JdkClasses {
    private static final List<Class<?>> KEPT = new ArrayList<>();

    private JdkClasses() {
    }

    public static void main(String[] args) throws Exception {
        int wanted = Integer.parseInt(args[0]);
        try (Stream<Path> files = Files.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules"))) {
            for (Iterator<Path> i = files.iterator(); i.hasNext() && KEPT.size() < wanted; ) {
                Path file = i.next();
                if (file.getNameCount() > 3 && file.toString().endsWith(".class")) {
                    load(file.subpath(2, file.getNameCount()).toString(), args);
                }
            }
        }
        Program.set("classes", KEPT.size());
        Program.serve();
    }

    private static void load(String name, String[] args) throws IOException {
        for (int i = 1; i < args.length; i++) {
            if (name.startsWith(args[i])) {
                try {
                    Class<?> type = Class.forName(name.substring(0, name.length() - 6).replace('/', '.'), false,
                            ClassLoader.getSystemClassLoader());
                    type.getDeclaredMethods(); // links it, but runs none of it
                    KEPT.add(type);
                } catch (ClassNotFoundException | LinkageError e) {
                    Program.count("not_loaded", 1);
                }
                return;
            }
        }
    }
}
