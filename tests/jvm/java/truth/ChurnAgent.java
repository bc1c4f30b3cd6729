package truth;

import java.lang.instrument.Instrumentation;

/** Another agent: hands truth.Churn the right to redefine and retransform classes. */
public final class ChurnAgent {
    static volatile Instrumentation instrumentation;

    private ChurnAgent() {
    }

    public static void premain(String args, Instrumentation given) {
        instrumentation = given;
    }
}
