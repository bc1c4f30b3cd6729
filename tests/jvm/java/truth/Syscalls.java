package truth;

import java.io.FileInputStream;
import java.io.FileOutputStream;

/** A thread that is in the kernel most of the time: reads of /dev/zero, writes to /dev/null. */
public final class Syscalls {
    public static void main(String[] args) throws Exception {
        Program.thread("syscalls", Syscalls::loop);
        Program.serve();
    }

    private static void loop() {
        byte[] large = new byte[1 << 20], small = new byte[100];
        try (FileInputStream in = new FileInputStream("/dev/zero");
             FileOutputStream out = new FileOutputStream("/dev/null")) {
            while (!Program.stopping) {
                for (int i = 0; i < 20; i++) {
                    Program.sink += in.read(large);
                    out.write(large);
                }
                for (int i = 0; i < 1000; i++) {
                    Program.sink += in.read(small);
                    out.write(small);
                }
                Program.set("cpu", Program.cpu());
            }
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
