package truth;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads and writes of all kinds, as often as the second argument says, in the folder of the first one, when "begin" was
 * said. Before the first and behind the last one it tries to open "io-truth-begin" and "io-truth-end", for who counts
 * what comes between (preload/io_truth.c). A third argument names what is done, of files, sockets, channels, pipes,
 * threads, reused, drip, separated by +; "idle": a server waits for a client that never says anything, and a client for
 * a server that does not, for ever. With "timed" among them a client's reads have a timeout. Counters: `port` of the
 * server, `slow` ns that a client has waited for answers.
 */
public final class Io {
    private static final int BYTES = 256 << 10;
    private static File folder;
    private static int rounds;
    private static boolean timed;

    interface Body {
        void run() throws Exception;
    }

    private static Runnable of(Body body) {
        return () -> {
            try {
                body.run();
            } catch (Exception e) {
                e.printStackTrace();
                System.exit(3);
            }
        };
    }

    private static void mark(String word) {
        try {
            new FileInputStream(new File(folder, "io-truth-" + word)).close();
        } catch (IOException expected) {
            // there is none
        }
    }

    private static void files() throws Exception {
        File file = new File(folder, "random");
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < rounds; i++) {
            try (RandomAccessFile f = new RandomAccessFile(file, "rw")) {
                f.write(bytes);
                f.seek(0);
                f.readFully(bytes);
                if (i % 16 == 0) {
                    f.getFD().sync();
                }
            }
            try (FileInputStream in = new FileInputStream(file)) {
                while (in.read(bytes) > 0) {
                    continue;
                }
            }
            Program.sleep(1);
        }
    }

    private static void channels() throws Exception {
        File file = new File(folder, "channel");
        ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
        for (int i = 0; i < rounds; i++) {
            try (FileChannel c = FileChannel.open(file.toPath(), StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                    StandardOpenOption.READ)) {
                buffer.clear();
                c.write(buffer);
                buffer.clear();
                c.read(buffer, 0);
                buffer.clear();
                c.position(0);
                c.read(new ByteBuffer[] {buffer});
                if (i % 16 == 0) {
                    c.force(false);
                }
            }
            Program.sleep(1);
        }
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Thread echo = Program.thread("nio-server", of(() -> {
                ByteBuffer b = ByteBuffer.allocateDirect(BYTES);
                try (SocketChannel c = server.accept()) {
                    while (c.read(b) >= 0) {
                        b.flip();
                        while (b.hasRemaining()) {
                            c.write(b);
                        }
                        b.clear();
                    }
                }
            }));
            try (SocketChannel c = SocketChannel.open(server.getLocalAddress())) {
                for (int i = 0; i < rounds; i++) {
                    buffer.clear().limit(1000);
                    c.write(buffer);
                    buffer.clear().limit(1000);
                    while (buffer.hasRemaining()) {
                        c.read(buffer);
                    }
                    Program.sleep(1);
                }
            }
            echo.join();
        }
    }

    private static void answer(Socket socket) throws Exception {
        byte[] bytes = new byte[1000];
        try (InputStream in = socket.getInputStream(); OutputStream out = socket.getOutputStream()) {
            for (int n; (n = in.read(bytes)) > 0;) {
                Program.sleep(2);
                out.write(bytes, 0, n);
            }
        }
    }

    private static void sockets() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Program.set("port", server.getLocalPort());
            Thread accepting = Program.thread("server", of(() -> {
                Socket socket = server.accept();
                answer(socket);
            }));
            long waited = 0;
            byte[] bytes = new byte[1000];
            try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
                client.setSoTimeout(timed ? 60000 : 0);
                for (int i = 0; i < rounds; i++) {
                    client.getOutputStream().write(bytes);
                    long since = System.nanoTime();
                    for (int n = 0; n < bytes.length;) {
                        n += client.getInputStream().read(bytes);
                    }
                    waited += System.nanoTime() - since;
                }
            }
            Program.set("slow", waited);
            accepting.join();
        }
    }

    private static void pipes() throws Exception {
        pipe(10000, 1);
    }

    /** A reader that waits for each of its bytes for some time. */
    private static void drip() throws Exception {
        pipe(7001, 60);
    }

    private static void pipe(int bytes, int ms) throws Exception {
        Pipe pipe = Pipe.open();
        Thread reader = Program.thread("pipe", of(() -> {
            ByteBuffer b = ByteBuffer.allocateDirect(65536);
            while (pipe.source().read(b) >= 0) {
                b.clear();
            }
        }));
        ByteBuffer b = ByteBuffer.allocateDirect(bytes);
        for (int i = 0; i < rounds; i++) {
            b.clear();
            pipe.sink().write(b);
            Program.sleep(ms);
        }
        pipe.sink().close();
        reader.join();
    }

    /** Threads that end when they have written once. */
    private static void threads() throws Exception {
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < rounds; i++) {
            File file = new File(folder, "brief" + i % 8);
            Thread t = new Thread(of(() -> {
                try (FileOutputStream out = new FileOutputStream(file)) {
                    out.write(bytes);
                }
            }), "brief-" + i);
            t.start();
            t.join();
        }
    }

    /** A descriptor is closed, its file deleted, and the next file has the same number, and the same inode. */
    private static void reused() throws Exception {
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < rounds; i++) {
            File file = new File(folder, "reused" + i % 4);
            try (FileOutputStream out = new FileOutputStream(file)) {
                for (int n = 0; n <= i % 4; n++) {
                    out.write(bytes);
                }
            }
            file.delete();
            Program.sleep(1);
        }
    }

    private static void idle() throws Exception {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Program.set("port", server.getLocalPort());
        Program.thread("server", of(() -> {
            while (true) {
                Socket s = server.accept();
                Program.thread("connection", of(() -> s.getInputStream().read()));
            }
        }));
        Program.sleep(100);
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Program.thread("client", of(() -> client.getInputStream().read()));
        Program.sleep(100);
        Program.set("done", 1);
        while (true) {
            Program.sleep(1000);
        }
    }

    private static void run(List<String> kinds) throws Exception {
        while (!Program.begun) {
            Program.sleep(1);
        }
        mark("begin");
        for (String kind : kinds) {
            switch (kind) {
                case "files": files(); break;
                case "channels": channels(); break;
                case "sockets": sockets(); break;
                case "pipes": pipes(); break;
                case "drip": drip(); break;
                case "threads": threads(); break;
                case "reused": reused(); break;
                default: idle();
            }
        }
        mark("end");
        Program.set("done", 1);
    }

    public static void main(String[] args) throws Exception {
        folder = new File(args[0]);
        rounds = Integer.parseInt(args[1]);
        List<String> kinds = new ArrayList<>(java.util.Arrays.asList(args[2].split("\\+")));
        boolean virtual = kinds.remove("virtual");
        timed = kinds.remove("timed");
        Runnable body = of(() -> run(kinds));
        if (virtual) {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        } else {
            Program.thread("worker", body);
        }
        // what the JVM opens at the first time
        new Socket();
        Program.serve();
    }
}
