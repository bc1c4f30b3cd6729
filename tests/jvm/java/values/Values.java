package truth;

/**
 * Value objects (JEP 401) as arguments: few, whose fields fit into registers, and many, for which the stack has to hold
 * fields. Each is called by code that passes fields (C2) and by code that passes pointers (C1, the interpreter; the
 * test keeps the callers whose names say so there), directly, by an interface, on a value object, by itself, with garbage
 * made and with exceptions thrown on the way. The counter says how often all were called.
 */
public final class Values {
    static value class Pair {
        final double x, y, z, w;

        Pair(double x, double y, double z, double w) {
            this.x = x;
            this.y = y;
            this.z = z;
            this.w = w;
        }

        double turned(Pair other, Quad quad, Quad last, int rounds) {
            return Values.work(rounds) + x * other.y + quad.b.z + last.a.w;
        }
    }

    static value class Quad {
        final Pair a, b;
        final long c, d;

        Quad(Pair a, Pair b, long c, long d) {
            this.a = a;
            this.b = b;
            this.c = c;
            this.d = d;
        }
    }

    interface Shape {
        double area(Pair p, Quad q, Pair r, Quad s);
    }

    static final class Near implements Shape {
        public double area(Pair p, Quad q, Pair r, Quad s) {
            return work(20) + s.a.x + q.b.y + p.x + r.w;
        }
    }

    static final class Far implements Shape {
        public double area(Pair p, Quad q, Pair r, Quad s) {
            double sum = 0;
            for (int i = 0; i < 40; i++) {
                sum = sum * 1.0000001 + p.x + q.c + s.b.w + r.z + i;
            }
            return sum;
        }
    }

    static final class Round implements Shape {
        public double area(Pair p, Quad q, Pair r, Quad s) {
            return few(p, 20) + few(r, 20) + q.d + s.c;
        }
    }

    static final Shape[] SHAPES = {new Near(), new Far(), new Round()};
    static final int DEPTH = 20;
    static volatile double sink;
    static volatile Object garbage;

    static double work(int rounds) {
        return Program.work(rounds);
    }

    static double few(Pair p, int rounds) {
        double sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum = sum * 1.0000001 + p.x + p.y + p.z + p.w + i;
        }
        return sum;
    }

    static double many(Pair p, Quad q, Pair r, Quad s, int depth) {
        if (depth > 0) {
            return many(r, s, p, q, depth - 1) + p.x;
        }
        return work(200) + s.b.w + r.x + q.c;
    }

    static double making(Pair p, Quad q, Pair r, Quad s) {
        Object[] all = new Object[16];
        for (int i = 0; i < all.length; i++) {
            all[i] = new double[8];
        }
        garbage = all;
        return p.x + q.c + r.z + s.d;
    }

    static double failing(Pair p, Quad q, Pair r, Quad s, int depth) {
        if (depth == 0) {
            throw new IllegalStateException();
        }
        return failing(r, s, p, q, depth - 1) + p.x;
    }

    static double catching(Pair p, Quad q, Pair r, Quad s) {
        try {
            return failing(p, q, r, s, DEPTH);
        } catch (IllegalStateException e) {
            return p.y;
        }
    }

    /** All of them once, by a caller that is compiled as the test wants it. */
    interface Caller {
        double all(int i);
    }

    static final class Compiled implements Caller {
        public double all(int i) {
            Pair p = new Pair(i, i + 1, i, 1);
            Quad q = new Quad(p, p, i, 1);
            return few(p, 40) + many(p, q, p, q, DEPTH) + making(p, q, p, q) + p.turned(p, q, q, 40) +
                    SHAPES[i % 3].area(p, q, p, q) + (i % 16 == 0 ? catching(p, q, p, q) : 0);
        }
    }

    static final class Quick implements Caller {
        public double all(int i) {
            Pair p = new Pair(i, i + 1, i, 1);
            Quad q = new Quad(p, p, i, 1);
            return few(p, 40) + many(p, q, p, q, DEPTH) + making(p, q, p, q) + p.turned(p, q, q, 40) +
                    SHAPES[i % 3].area(p, q, p, q) + (i % 16 == 0 ? catching(p, q, p, q) : 0);
        }
    }

    static final class Interpreted implements Caller {
        public double all(int i) {
            Pair p = new Pair(i, i + 1, i, 1);
            Quad q = new Quad(p, p, i, 1);
            return few(p, 40) + many(p, q, p, q, DEPTH) + making(p, q, p, q) + p.turned(p, q, q, 40) +
                    SHAPES[i % 3].area(p, q, p, q) + (i % 16 == 0 ? catching(p, q, p, q) : 0);
        }
    }

    static void loop(Caller caller) {
        for (int i = 0; !Program.stopping; i = (i + 1) & 0xffff) {
            sink = caller.all(i);
            if (i == 0) {
                Program.count("rounds", 1);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Program.thread("compiled", () -> loop(new Compiled()));
        Program.thread("quick", () -> loop(new Quick()));
        Program.thread("interpreted", () -> loop(new Interpreted()));
        Program.serve();
    }
}
