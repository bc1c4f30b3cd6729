package truth;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * Class files of truth.Churn, written byte by byte: a Runnable whose run() calls its own static
 * method r&lt;id&gt;(), which calls truth.Churn.burn(id). The id is the class's true name, in a constant.
 */
final class ClassBytes {
    private static final int ACC_PUBLIC = 1, ACC_STATIC = 8, ACC_SUPER = 0x20;

    private ClassBytes() {
    }

    /** NAME with slashes; FILLERS empty methods stand before the others, PADS nops in each body. */
    static byte[] make(String name, int id, int fillers, int pads) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            write(new DataOutputStream(bytes), name, id, fillers, pads);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return bytes.toByteArray();
    }

    private static void write(DataOutputStream out, String name, int id, int fillers, int pads)
            throws IOException {
        out.writeInt(0xCAFEBABE);
        out.writeInt(52); // minor 0, major 52: Java 8
        out.writeShort(24 + fillers);
        utf8(out, name);                         // 1
        pair(out, 7, 1);                         // 2 this class
        utf8(out, "java/lang/Object");           // 3
        pair(out, 7, 3);                         // 4 super class
        utf8(out, "java/lang/Runnable");         // 5
        pair(out, 7, 5);                         // 6
        utf8(out, "Code");                       // 7
        utf8(out, "<init>");                     // 8
        utf8(out, "()V");                        // 9
        utf8(out, "run");                        // 10
        utf8(out, String.format("r%06d", id));   // 11
        utf8(out, "truth/Churn");                // 12
        pair(out, 7, 12);                        // 13
        utf8(out, "burn");                       // 14
        utf8(out, "(I)V");                       // 15
        out.writeByte(3);                        // 16 the constant
        out.writeInt(id);
        quad(out, 12, 8, 9);                     // 17 <init>()V
        quad(out, 10, 4, 17);                    // 18 Object.<init>
        quad(out, 12, 11, 9);                    // 19 r<id>()V
        quad(out, 10, 2, 19);                    // 20 own r<id>
        quad(out, 12, 14, 15);                   // 21 burn(I)V
        quad(out, 10, 13, 21);                   // 22 Churn.burn
        utf8(out, "unused");                     // 23
        for (int i = 0; i < fillers; i++) {
            utf8(out, "f" + i);                  // 24 ...
        }
        out.writeShort(ACC_PUBLIC | ACC_SUPER);
        out.writeShort(2);
        out.writeShort(4);
        out.writeShort(1); // interfaces
        out.writeShort(6);
        out.writeShort(0); // fields
        out.writeShort(3 + fillers);
        for (int i = 0; i < fillers; i++) {
            method(out, ACC_PUBLIC | ACC_STATIC, 24 + i, 0, 0, pads);
        }
        method(out, ACC_PUBLIC, 8, 1, 1, pads, 0x2A, 0xB7, 0, 18);  // aload_0, invokespecial
        method(out, ACC_PUBLIC, 10, 1, 1, pads, 0xB8, 0, 20);       // invokestatic r<id>
        method(out, ACC_PUBLIC | ACC_STATIC, 11, 1, 0, pads, 0x13, 0, 16, 0xB8, 0, 22); // ldc_w, invokestatic
        out.writeShort(0); // attributes
    }

    private static void method(DataOutputStream out, int access, int name, int stack, int locals,
                               int pads, int... code) throws IOException {
        int length = pads + code.length + 1;
        out.writeShort(access);
        out.writeShort(name);
        out.writeShort(9);
        out.writeShort(1);
        out.writeShort(7);
        out.writeInt(12 + length);
        out.writeShort(stack);
        out.writeShort(locals);
        out.writeInt(length);
        for (int i = 0; i < pads; i++) {
            out.writeByte(0); // nop
        }
        for (int b : code) {
            out.writeByte(b);
        }
        out.writeByte(0xB1); // return
        out.writeShort(0);
        out.writeShort(0);
    }

    private static void utf8(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    private static void pair(DataOutputStream out, int tag, int one) throws IOException {
        out.writeByte(tag);
        out.writeShort(one);
    }

    private static void quad(DataOutputStream out, int tag, int one, int two) throws IOException {
        out.writeByte(tag);
        out.writeShort(one);
        out.writeShort(two);
    }
}
