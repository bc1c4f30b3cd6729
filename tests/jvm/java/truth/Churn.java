package truth;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;

/**
 * Classes that come and go, each with its true name in a constant. Class churn.C004711 has a
 * method r004711, which calls burn(4711); burn spells the constant with the methods d0 … d9 of this
 * class, which never goes away, and uses CPU time under them:
 *
 *     churn.C004711.run  churn.C004711.r004711  burn  d0  d0  d4  d7  d1  d1  leaf
 *
 * So every stack says twice whose time it shows, once by names of what may have been unloaded
 * since. Arguments: which kinds of churn (loaders hidden lambdas redefine), ms between two
 * garbage collections. Counters: classes, redefined.
 */
public final class Churn {
    private static final int ROUNDS = 60_000; // of Program.work at a leaf
    private static final AtomicInteger IDS = new AtomicInteger();

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Churn.class.getClassLoader());
        }

        Class<?> define(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    private Churn() {
    }

    public static void main(String[] args) throws Exception {
        begin(args[0], Long.parseLong(args[1]));
        Program.serve();
    }

    static void begin(String kinds, long every) throws Exception {
        for (String kind : kinds.split("\\+")) {
            Program.thread("churn-" + kind, body(kind));
        }
        Program.thread("collect", () -> {
            while (!Program.stopping) {
                Program.sleep(every);
                System.gc();
            }
        });
    }

    private static Runnable body(String kind) {
        switch (kind) {
            case "loaders": return () -> repeat(Churn::oneLoader);
            case "hidden": return () -> repeat(Churn::oneHidden);
            case "lambdas": return () -> repeat(Churn::oneLambda);
            case "redefine": return Churn::redefine;
            default: throw new IllegalArgumentException(kind);
        }
    }

    private interface Step {
        void take() throws Exception;
    }

    private static void repeat(Step step) {
        try {
            while (!Program.stopping) {
                step.take();
                Program.count("classes", 1);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void run(Class<?> type) throws Exception {
        ((Runnable) type.getConstructor().newInstance()).run();
    }

    /** Two classes of one loader that is not kept. */
    private static void oneLoader() throws Exception {
        Loader loader = new Loader();
        for (int i = 0; i < 2; i++) {
            int id = IDS.incrementAndGet();
            String name = String.format("churn.C%06d", id);
            run(loader.define(name, ClassBytes.make(name.replace('.', '/'), id, id % 4, id % 3)));
        }
    }

    /** A hidden class (JDK 15+). */
    private static void oneHidden() throws Exception {
        int id = IDS.incrementAndGet();
        byte[] bytes = ClassBytes.make(String.format("truth/H%06d", id), id, id % 4, id % 3);
        Class<?> option = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
        Method define = MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class, boolean.class,
            Array.newInstance(option, 0).getClass());
        MethodHandles.Lookup hidden = (MethodHandles.Lookup) define.invoke(MethodHandles.lookup(), bytes,
            false, Array.newInstance(option, 0));
        run(hidden.lookupClass());
    }

    /** A class of a fresh loader that makes lambdas. */
    public static final class Lambdas implements Runnable {
        @Override
        public void run() {
            int captured = (int) System.nanoTime() & 7;
            IntUnaryOperator add = x -> x + captured;
            IntUnaryOperator twice = add.andThen(x -> 2 * x).compose(x -> x ^ 5);
            for (int i = 0; i < 2_000; i++) {
                Program.sink += twice.applyAsInt(i);
            }
        }
    }

    private static byte[] lambdas;

    private static void oneLambda() throws Exception {
        if (lambdas == null) {
            lambdas = Program.classFile("Churn$Lambdas.class");
        }
        run(new Loader().define("truth.Churn$Lambdas", lambdas));
    }

    /**
     * A loader with 16 classes, all redefined and retransformed again and again while they run, and
     * new classes in it meanwhile: they take the place of the methods that are replaced.
     */
    private static void redefine() {
        Instrumentation instrumentation = ChurnAgent.instrumentation;
        Loader loader = new Loader();
        List<Class<?>> types = new ArrayList<>();
        List<String> names = new ArrayList<>();
        List<Integer> ids = new ArrayList<>();
        try {
            for (int i = 0; i < 16; i++) {
                int id = IDS.incrementAndGet();
                String name = String.format("churn.R%06d", id);
                types.add(loader.define(name, ClassBytes.make(name.replace('.', '/'), id, id % 4, 0)));
                names.add(name);
                ids.add(id);
            }
            Program.thread("redefined", () -> repeat(() -> {
                for (Class<?> type : types) {
                    run(type);
                }
            }));
            for (int round = 0; !Program.stopping; round++) {
                List<ClassDefinition> all = new ArrayList<>();
                for (int i = round % 2; i < types.size(); i += 2) {
                    all.add(new ClassDefinition(types.get(i), ClassBytes.make(names.get(i).replace('.', '/'),
                        ids.get(i), ids.get(i) % 4, round % 5)));
                }
                instrumentation.redefineClasses(all.toArray(new ClassDefinition[0]));
                instrumentation.retransformClasses(types.get(round % types.size()));
                int id = IDS.incrementAndGet();
                String name = String.format("churn.C%06d", id);
                run(loader.define(name, ClassBytes.make(name.replace('.', '/'), id, id % 4, id % 3)));
                Program.count("redefined", 1);
                Program.sleep(3);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    // ---- the truth ----

    public static void burn(int id) {
        spell(id, 100_000);
    }

    private static void spell(int rest, int place) {
        if (place == 0) {
            leaf();
            return;
        }
        switch (rest / place) {
            case 0: d0(rest % place, place / 10); break;
            case 1: d1(rest % place, place / 10); break;
            case 2: d2(rest % place, place / 10); break;
            case 3: d3(rest % place, place / 10); break;
            case 4: d4(rest % place, place / 10); break;
            case 5: d5(rest % place, place / 10); break;
            case 6: d6(rest % place, place / 10); break;
            case 7: d7(rest % place, place / 10); break;
            case 8: d8(rest % place, place / 10); break;
            default: d9(rest % place, place / 10);
        }
    }

    private static void leaf() {
        Program.sink = Program.work(ROUNDS);
    }

    private static void d0(int rest, int place) { spell(rest, place); }
    private static void d1(int rest, int place) { spell(rest, place); }
    private static void d2(int rest, int place) { spell(rest, place); }
    private static void d3(int rest, int place) { spell(rest, place); }
    private static void d4(int rest, int place) { spell(rest, place); }
    private static void d5(int rest, int place) { spell(rest, place); }
    private static void d6(int rest, int place) { spell(rest, place); }
    private static void d7(int rest, int place) { spell(rest, place); }
    private static void d8(int rest, int place) { spell(rest, place); }
    private static void d9(int rest, int place) { spell(rest, place); }
}
