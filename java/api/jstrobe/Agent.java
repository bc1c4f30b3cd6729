package jstrobe;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import javax.management.InstanceAlreadyExistsException;
import javax.management.ObjectName;
import one.profiler.AsyncProfiler;
import one.profiler.AsyncProfilerMXBean;

/**
 * {@code -javaagent:jstrobe.jar=start,event=cpu,file=out.html}: loads the library, offers the profiler to JMX as
 * {@code one.profiler:type=AsyncProfiler}, carries out the options.
 *
 * A mistake does not keep the program from running: it is said on stderr, unless {@code strict} is among the options.
 */
public final class Agent {
    private Agent() {
    }

    public static void premain(String options) throws Exception {
        begin(options, "; the program runs unprofiled");
    }

    public static void agentmain(String options) throws Exception {
        begin(options, "");
    }

    private static void begin(String options, String consequence) throws Exception {
        try {
            AsyncProfiler profiler = AsyncProfiler.getInstance();
            register(profiler);
            if (options != null && !options.isEmpty())
                profiler.execute(options);
        } catch (Exception | LinkageError e) {
            if (options != null && Arrays.asList(options.split(",")).contains("strict"))
                throw e;
            System.err.println("jstrobe: " + e.getMessage() + consequence);
        }
    }

    private static void register(AsyncProfiler profiler) throws Exception {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(profiler,
                new ObjectName(AsyncProfilerMXBean.OBJECT_NAME));
        } catch (InstanceAlreadyExistsException e) {
            /* loaded twice */
        } catch (NoClassDefFoundError e) {
            System.err.println("jstrobe: this JVM has no module java.management, so there is no JMX bean");
        }
    }
}
