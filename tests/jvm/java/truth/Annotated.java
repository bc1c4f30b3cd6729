package truth;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/**
 * Annotated: after "end" was said, each method here is called 100 times: with an annotation that the JVM keeps, with one
 * that has values, with both, with none; in classes of the same kinds. One class is loaded only then; a method of it has
 * an annotation that is in the class file alone. Counters `ready`, `done`.
 */
public final class Annotated {
    @Retention(RetentionPolicy.RUNTIME) @interface Marked { }

    @Retention(RetentionPolicy.CLASS) @interface Quiet { }

    @Retention(RetentionPolicy.RUNTIME) @interface Timed {
        String[] names() default {};
        Marked[] marks() default {};
        Class<?> by() default Object.class;
    }

    static int sum;

    @Marked static void marked() {
        sum++;
    }

    @Timed(names = {"a", "b"}, marks = @Marked, by = String.class) static void timed() {
        sum++;
    }

    @Timed @Marked static void both() {
        sum++;
    }

    static void plain() {
        sum++;
    }

    /** A class's annotation is one of all its methods. */
    @Marked static class Whole {
        static void one() {
            sum++;
        }

        static void two() {
            sum++;
        }
    }

    /** It is not one of the classes that extend it, nor of those within. */
    static class Heir extends Whole {
        static void three() {
            sum++;
        }
    }

    @Marked static class Late {
        static void four() {
            sum++;
        }

        @Quiet static void five() {
            sum++;
        }
    }

    private static void calls() {
        marked();
        timed();
        both();
        plain();
        Whole.one();
        Whole.two();
        Heir.three();
        Late.four();
        Late.five();
    }

    public static void main(String[] args) throws Exception {
        Whole.one();
        Heir.three();
        Program.thread("calls", () -> {
            Program.set("ready", 1);
            while (!Program.ending)
                Program.sleep(1);
            for (int i = 0; i < 100; i++)
                calls();
            Program.set("done", 1);
        });
        Program.serve();
    }
}
