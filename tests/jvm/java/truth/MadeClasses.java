package truth;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.IntUnaryOperator;

/**
 * Classes that the JVM makes while the program runs, whose names have addresses and running numbers: lambdas, references
 * to methods, proxies and, before JDK 18, accessors of reflection. An argument makes as many others first, so that the
 * numbers are other ones. Counter `units`: rounds.
 */
public final class MadeClasses {
    interface Job {
        long run(long x);
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < (args.length > 0 ? Integer.parseInt(args[0]) : 0); i++) {
            Job other = i % 2 == 0 ? x -> x : x -> x + 1;
            Program.sink = other.run(i);
            ClassLoader own = new ClassLoader(MadeClasses.class.getClassLoader()) { };
            Proxy.newProxyInstance(own, new Class<?>[] {Runnable.class}, (p, m, a) -> null);
        }
        Job body = x -> spin(x) + 1;
        Job reference = MadeClasses::spinOther;
        InvocationHandler handler = (proxy, method, arguments) -> spin((Long) arguments[0]);
        Job proxy = (Job) Proxy.newProxyInstance(MadeClasses.class.getClassLoader(), new Class<?>[] {Job.class}, handler);
        Method method = MadeClasses.class.getDeclaredMethod("reflected", long.class);
        Program.thread("made", () -> serve(body, reference, proxy, method));
        Program.serve();
    }

    private static void serve(Job body, Job reference, Job proxy, Method method) {
        IntUnaryOperator next = i -> (i + 1) & 3;
        for (int i = 0; !Program.stopping; i = next.applyAsInt(i)) {
            try {
                Program.sink = i == 0 ? body.run(i) : i == 1 ? reference.run(i) : i == 2 ? proxy.run(i)
                    : (Long) method.invoke(null, (long) i);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            Program.count("units", 1);
        }
    }

    static long reflected(long x) {
        return spin(x);
    }

    static long spinOther(long x) {
        return spin(x + 1);
    }

    static long spin(long x) {
        for (int i = 0; i < 200_000; i++) {
            x ^= x << 13 | 1;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }
}
