import java.util.ArrayDeque;
import java.util.PriorityQueue;

/** A queueing network as a simulation of events, and bodies that attract each other. */
public final class Simulation {
    private static final class Event implements Comparable<Event> {
        final double time;
        final int station;

        Event(double time, int station) {
            this.time = time;
            this.station = station;
        }

        @Override
        public int compareTo(Event other) {
            return Double.compare(time, other.time);
        }
    }

    private static final class Station {
        final ArrayDeque<Double> waiting = new ArrayDeque<>();
        boolean busy;
        double total;
        int served;

        void arrive(double now, Network n, int me) {
            if (busy) {
                waiting.addLast(now);
            } else {
                begin(now, now, n, me);
            }
        }

        void begin(double now, double arrived, Network n, int me) {
            busy = true;
            double service = n.exponential(1.2);
            total += now - arrived + service;
            served++;
            n.events.add(new Event(now + service, me));
        }

        void leave(double now, Network n, int me) {
            busy = false;
            if (!waiting.isEmpty()) {
                begin(now, waiting.pollFirst(), n, me);
            }
        }
    }

    private static final class Network {
        final PriorityQueue<Event> events = new PriorityQueue<>();
        final Station[] stations = new Station[20];
        private long seed = 42;

        double random() {
            seed ^= seed << 13;
            seed ^= seed >>> 7;
            seed ^= seed << 17;
            return (seed >>> 11) * 0x1p-53;
        }

        double exponential(double rate) {
            return -Math.log(1 - random()) / rate;
        }

        double run(int count) {
            for (int i = 0; i < stations.length; i++) {
                stations[i] = new Station();
            }
            for (int i = 0; i < 60; i++) {
                stations[i % stations.length].arrive(i * 0.1, this, i % stations.length);
            }
            double sum = 0;
            for (int i = 0; i < count; i++) {
                Event e = events.poll();
                stations[e.station].leave(e.time, this, e.station);
                int next = (int) (random() * stations.length);
                stations[next].arrive(e.time, this, next);
                sum += e.time;
            }
            return sum;
        }
    }

    private static final class Body {
        double x, y, z, vx, vy, vz;
        final double mass;

        Body(int i) {
            x = i * 1.7;
            y = i * i % 7;
            z = i % 5;
            mass = 1 + i % 3;
        }

        double distance2(Body o) {
            double dx = x - o.x, dy = y - o.y, dz = z - o.z;
            return dx * dx + dy * dy + dz * dz + 0.01;
        }

        void pull(Body o, double dt) {
            double d2 = distance2(o), f = dt * o.mass / (d2 * Math.sqrt(d2));
            vx += (o.x - x) * f;
            vy += (o.y - y) * f;
            vz += (o.z - z) * f;
        }

        void move(double dt) {
            x += vx * dt;
            y += vy * dt;
            z += vz * dt;
        }
    }

    private static double bodies(Body[] all, int steps) {
        for (int s = 0; s < steps; s++) {
            for (Body a : all) {
                for (Body b : all) {
                    if (a != b) {
                        a.pull(b, 0.001);
                    }
                }
            }
            for (Body a : all) {
                a.move(0.001);
            }
        }
        return all[0].x;
    }

    public static void main(String[] args) throws Exception {
        Body[] all = new Body[20];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Body(i);
        }
        Steady.run(() -> (long) (new Network().run(20_000) + bodies(all, 50)));
    }
}
