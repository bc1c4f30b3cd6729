package truth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * N clients (argument 1) that wait for an answer in a method of the program, in a way whose stacks look like waits for
 * work (argument 0): "monitor", "condition", "park", "datagram". The `server` sleeps 20 ms for each answer. "queue" is
 * the twin: consumers that wait for work, which comes every 20 ms.
 */
public final class Answers {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Condition DONE = LOCK.newCondition();
    private static final Object MONITOR = new Object();
    private static final LinkedBlockingQueue<Object> QUEUE = new LinkedBlockingQueue<>();
    private static long answers;
    private static volatile long parkedAnswers;
    private static Thread[] clients;

    private Answers() {
    }

    private interface Step {
        void run() throws Exception;
    }

    private static Thread forever(String name, Step step) {
        return Program.thread(name, () -> {
            try {
                while (!Program.stopping) {
                    step.run();
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static void askMonitor() throws InterruptedException {
        synchronized (MONITOR) {
            for (long seen = answers; answers == seen;) {
                MONITOR.wait(1000);
            }
        }
    }

    private static void askCondition() throws InterruptedException {
        LOCK.lock();
        try {
            for (long seen = answers; answers == seen;) {
                DONE.awaitNanos(1_000_000_000L);
            }
        } finally {
            LOCK.unlock();
        }
    }

    private static void askParked() {
        for (long seen = parkedAnswers; parkedAnswers == seen;) {
            LockSupport.parkNanos(1_000_000_000L);
        }
    }

    private static void askDatagram(DatagramSocket socket, int port) throws Exception {
        socket.send(new DatagramPacket(new byte[8], 8, InetAddress.getLoopbackAddress(), port));
        socket.receive(new DatagramPacket(new byte[8], 8));
    }

    private static void consume() throws InterruptedException {
        QUEUE.take();
    }

    private static void answer(String kind) throws InterruptedException {
        Thread.sleep(20);
        switch (kind) {
        case "monitor":
            synchronized (MONITOR) {
                answers++;
                MONITOR.notifyAll();
            }
            break;
        case "condition":
            LOCK.lock();
            answers++;
            DONE.signalAll();
            LOCK.unlock();
            break;
        case "park":
            parkedAnswers++;
            for (Thread client : clients) {
                LockSupport.unpark(client);
            }
            break;
        default:
            for (int i = 0; i < clients.length; i++) {
                QUEUE.add(kind);
            }
        }
    }

    private static void serve(DatagramSocket socket) throws Exception {
        DatagramPacket packet = new DatagramPacket(new byte[8], 8);
        socket.receive(packet);
        Thread.sleep(20);
        socket.send(packet);
    }

    private static DatagramSocket socket(InetAddress address) {
        try {
            return address == null ? new DatagramSocket() : new DatagramSocket(0, address);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void start(String kind, int count) {
        DatagramSocket served = kind.equals("datagram") ? socket(InetAddress.getLoopbackAddress()) : null;

        clients = new Thread[count];
        for (int i = 0; i < clients.length; i++) {
            DatagramSocket mine = served == null ? null : socket(null);
            clients[i] = forever("client-" + i, kind.equals("monitor") ? Answers::askMonitor :
                kind.equals("condition") ? Answers::askCondition : kind.equals("park") ? Answers::askParked :
                kind.equals("datagram") ? () -> askDatagram(mine, served.getLocalPort()) : Answers::consume);
        }
        forever("server", served == null ? () -> answer(kind) : () -> serve(served));
    }

    public static void main(String[] args) throws Exception {
        Program.run("answers", () -> start(args[0], Integer.parseInt(args[1])));
    }
}
