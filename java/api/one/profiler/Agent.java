package one.profiler;

/** async-profiler's name for {@link jstrobe.Agent}. */
public class Agent {
    public static void premain(String options) throws Exception {
        jstrobe.Agent.premain(options);
    }

    public static void agentmain(String options) throws Exception {
        jstrobe.Agent.agentmain(options);
    }
}
