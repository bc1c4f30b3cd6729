package rewrite;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** The rewriter as a process beside this one: classes go in, classes with probes come out. */
final class Rewriter implements AutoCloseable {
    private final Process process;
    private final DataOutputStream out;
    private final DataInputStream in;
    int methods;
    int skipped;
    int left;

    Rewriter(String program) throws IOException {
        process = new ProcessBuilder(program).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        out = new DataOutputStream(process.getOutputStream());
        in = new DataInputStream(new BufferedInputStream(process.getInputStream(), 1 << 16));
    }

    /** BYTES with probes in all methods that have code; as they are if there is none. */
    byte[] rewrite(byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
        out.flush();
        methods += in.readInt();
        skipped += in.readInt();
        if (in.readInt() != 0)
            left++;
        byte[] result = new byte[in.readInt()];
        in.readFully(result);
        return result.length == 0 ? bytes : result;
    }

    @Override public void close() throws IOException {
        out.close();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }
}
