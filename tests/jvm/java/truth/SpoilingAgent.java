package truth;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/** An agent that makes nonsense of the class that its argument names (a/b/C), whenever that is transformed. */
public final class SpoilingAgent {
    private SpoilingAgent() {
    }

    public static void agentmain(String args, Instrumentation given) {
        given.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] bytes) {
                return args.equals(name) ? new byte[] {1, 2, 3} : null;
            }
        }, true);
    }
}
