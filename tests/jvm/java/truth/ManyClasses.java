package truth;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * A program with very many classes (argument: how many, 10 methods each), made of bytes written
 * here, and a Ticker that shows what attaching to it does to its threads.
 */
public final class ManyClasses {
    private static final int METHODS = 10;
    private static final Object[] KEPT = new Object[2];

    private static final class Loader extends ClassLoader {
        Class<?> define(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    public static void main(String[] args) throws Exception {
        int classes = Integer.parseInt(args[0]);
        Loader loader = new Loader();
        Class<?>[] all = new Class<?>[classes];
        for (int i = 0; i < classes; i++) {
            String name = "made.Class" + i;
            loader.define(name, bytes(name.replace('.', '/')));
            all[i] = Class.forName(name, true, loader); // linked and initialised
        }
        KEPT[0] = all;
        Ticker.start();
        Program.serve();
    }

    /** The simplest class file: no fields, METHODS static methods that only return. */
    private static byte[] bytes(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0xCAFEBABE);
        out.writeInt(52); // minor 0, major 52: Java 8
        out.writeShort(7 + METHODS);
        utf8(out, name);               // 1
        reference(out, 1);             // 2 class
        utf8(out, "java/lang/Object"); // 3
        reference(out, 3);             // 4 class
        utf8(out, "()V");              // 5
        utf8(out, "Code");             // 6
        for (int i = 0; i < METHODS; i++) {
            utf8(out, "m" + i);        // 7 ...
        }
        out.writeShort(0x21); // public super
        out.writeShort(2);
        out.writeShort(4);
        out.writeShort(0); // interfaces
        out.writeShort(0); // fields
        out.writeShort(METHODS);
        for (int i = 0; i < METHODS; i++) {
            out.writeShort(9); // public static
            out.writeShort(7 + i);
            out.writeShort(5);
            out.writeShort(1);
            out.writeShort(6);
            out.writeInt(13);
            out.writeShort(0);
            out.writeShort(0);
            out.writeInt(1);
            out.writeByte(0xB1); // return
            out.writeShort(0);
            out.writeShort(0);
        }
        out.writeShort(0); // attributes
        return bytes.toByteArray();
    }

    private static void utf8(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    private static void reference(DataOutputStream out, int index) throws IOException {
        out.writeByte(7);
        out.writeShort(index);
    }
}
