package jstrobe;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * The library of this jar as a file, for as long as it takes to load it.
 *
 * It lies in a folder that is made for it, which only this user may enter, under a name that is not known before. Where
 * others could put another folder in its place meanwhile (a parent that all may write to, without the sticky bit),
 * nothing is unpacked.
 */
final class Library implements AutoCloseable {
    private static final int WRITABLE = 0022;
    private static final int STICKY = 01000;

    private final Path folder;
    private final Path file;

    private Library(Path folder) {
        this.folder = folder;
        this.file = folder.resolve("libjstrobe.so");
    }

    /** The file that a property names, or null; async-profiler's property counts as well. */
    static String named() {
        return property("libraryPath");
    }

    /** Unpacked; null: this jar has none for this machine. */
    static Library extracted() throws IOException {
        try (InputStream from = Library.class.getResourceAsStream("/jstrobe/" + platform() + "/libjstrobe.so")) {
            if (from == null)
                return null;
            String named = property("extractPath");
            Path parent = Paths.get(named != null ? named : System.getProperty("java.io.tmpdir", "/tmp"));
            checkParent(parent);
            Library library = new Library(Files.createTempDirectory(parent, "jstrobe-", only("rwx------")));
            try {
                library.fill(from);
            } catch (IOException | RuntimeException e) {
                library.close();
                throw e;
            }
            return library;
        }
    }

    String path() {
        return file.toAbsolutePath().toString();
    }

    /** The JVM has it mapped by now, or never will. */
    @Override
    public void close() {
        try {
            Files.deleteIfExists(file);
            Files.deleteIfExists(folder);
        } catch (IOException e) {
            /* a folder that is left over does no harm */
        }
    }

    private void fill(InputStream from) throws IOException {
        Set<StandardOpenOption> anew = EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        byte[] bytes = new byte[65536];
        try (WritableByteChannel to = Files.newByteChannel(file, anew, only("rwx------"))) {
            for (int n; (n = from.read(bytes)) > 0;)
                for (ByteBuffer part = ByteBuffer.wrap(bytes, 0, n); part.hasRemaining();)
                    to.write(part);
        }
        if (!isOurs(folder) || !isOurs(file))
            throw new IOException(folder + " is another user's, or others may write to it");
    }

    private static boolean isOurs(Path path) throws IOException {
        return number(path, "uid") == user() && (number(path, "mode") & WRITABLE) == 0;
    }

    /** By whom files are made. The owner of /proc/self says it of root alone: of the link, or of who may not be looked at. */
    private static int user() throws IOException {
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"), StandardCharsets.ISO_8859_1))
            if (line.startsWith("Uid:"))
                return Integer.parseUnsignedInt(line.split("\\s+")[4]); // real, effective, saved, for files
        throw new IOException("/proc/self/status does not say by whom this JVM is run");
    }

    private static void checkParent(Path parent) throws IOException {
        if (!Files.isDirectory(parent))
            throw new IOException(parent + " is no folder");
        int mode = number(parent.toRealPath(), "mode");
        if ((mode & WRITABLE) != 0 && (mode & STICKY) == 0)
            throw new IOException("others may write to " + parent + ", and put files of theirs in the place of ours");
    }

    private static int number(Path path, String name) throws IOException {
        return (Integer) Files.getAttribute(path, "unix:" + name, LinkOption.NOFOLLOW_LINKS);
    }

    private static FileAttribute<Set<PosixFilePermission>> only(String permissions) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
    }

    private static String property(String name) {
        for (String prefix : new String[] {"jstrobe.", "one.profiler."}) {
            String value = System.getProperty(prefix + name);
            if (value != null && !value.isEmpty())
                return value;
        }
        return null;
    }

    private static String platform() {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        String cpu = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
        switch (cpu) {
        case "amd64":
        case "x86_64":
            cpu = "x64";
            break;
        case "aarch64":
            cpu = "arm64";
            break;
        case "arm":
        case "aarch32":
            cpu = "arm32";
            break;
        case "i386":
        case "i686":
            cpu = "x86";
            break;
        default:
            break;
        }
        return system + "-" + cpu;
    }
}
