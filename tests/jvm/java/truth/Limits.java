package truth;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * A program that needs what a profiler needs, too: timers and descriptors. Arguments: library,
 * number of busy threads. Counters: `timers` made, `timer_errors`, `accepts`, `accept_errors`.
 */
public final class Limits {
    /** Makes eight timers and deletes them; returns how many failed. */
    public static native int timers();

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        int busy = Integer.parseInt(args[1]);
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Program.set("timer_errors", 0);
        Program.set("accept_errors", 0);
        for (int i = 0; i < busy; i++) {
            Program.thread("busy-" + i, () -> {
                while (!Program.stopping) {
                    Program.sink = Program.work(50_000);
                    Program.sleep(40);
                }
            });
        }
        Program.thread("timers", () -> {
            while (!Program.stopping) {
                Program.count("timer_errors", timers());
                Program.count("timers", 8);
            }
        });
        Program.thread("accept", () -> accept(server));
        Program.thread("connect", () -> connect(server));
        Program.serve();
    }

    /** Holds 20 connections at a time: descriptors of the program. */
    private static void accept(ServerSocket server) {
        Socket[] held = new Socket[20];
        for (int i = 0; !Program.stopping; i = (i + 1) % held.length) {
            try {
                if (held[i] != null) {
                    held[i].close();
                }
                held[i] = server.accept();
                Program.count("accepts", 1);
            } catch (IOException e) {
                Program.count("accept_errors", 1);
                Program.sleep(10);
            }
        }
    }

    private static void connect(ServerSocket server) {
        while (!Program.stopping) {
            try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                Program.sleep(2);
            } catch (IOException e) {
                Program.count("accept_errors", 1);
                Program.sleep(10);
            }
        }
    }
}
