package truth;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * N connections that stay open (argument 0), with a thread at each end: `conn-` waits 20 ms for the next request, which it
 * answers within 20 ms, and `asker-` for the answer. With a pause of 0 ms (argument 1) it asks again at once.
 */
public final class Served {
    private Served() {
    }

    private static void serve(Socket s) throws IOException {
        while (s.getInputStream().read() >= 0) {
            Program.sleep(20);
            s.getOutputStream().write(1);
        }
    }

    private static int pause = 20;

    private static void ask(Socket s) throws IOException {
        while (!Program.stopping) {
            s.getOutputStream().write(1);
            Program.sink += s.getInputStream().read();
            if (pause > 0) {
                Program.sleep(pause);
            }
        }
    }

    private interface Talk {
        void with(Socket s) throws IOException;
    }

    private static void forever(String name, Socket socket, Talk talk) {
        Program.thread(name, () -> {
            try (Socket s = socket) {
                talk.with(s);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static void start(int count) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < count; i++) {
                Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket accepted = server.accept();
                forever("conn-" + i, accepted, Served::serve);
                forever("asker-" + i, client, Served::ask);
            }
            while (!Program.stopping) {
                Program.sleep(50);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        pause = args.length > 1 ? Integer.parseInt(args[1]) : pause;
        Program.run("served", () -> start(Integer.parseInt(args[0])));
    }
}
