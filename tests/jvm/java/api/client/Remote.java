package client;

import com.sun.tools.attach.VirtualMachine;
import javax.management.JMX;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import one.profiler.AsyncProfilerMXBean;
import one.profiler.Counter;

/** The bean of another JVM: Remote PID. */
public final class Remote {
    private static void say(String name, Object value) {
        System.out.println("SAID " + name + "=" + value);
    }

    public static void main(String[] args) throws Exception {
        VirtualMachine vm = VirtualMachine.attach(args[0]);
        String address = vm.startLocalManagementAgent();
        vm.detach();
        try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            ObjectName name = new ObjectName(AsyncProfilerMXBean.OBJECT_NAME);
            AsyncProfilerMXBean bean = JMX.newMXBeanProxy(server, name, AsyncProfilerMXBean.class);
            say("version", bean.getVersion().equals(server.getAttribute(name, "Version")));
            bean.start("ctimer", 1_000_000);
            try {
                bean.start("ctimer", 0);
            } catch (IllegalStateException e) {
                say("twice", e.getMessage().contains("already started"));
            }
            while (bean.getSamples() < 20)
                Thread.sleep(20);
            bean.stop();
            say("collapsed", bean.dumpCollapsed(Counter.SAMPLES).contains("api/Main.burn"));
            say("flat", bean.dumpFlat(1).contains("Total samples"));
            try {
                bean.execute("start,file=/no/such/x");
            } catch (java.io.IOException e) {
                say("io", e.getMessage().contains("/no/such"));
            }
            say("done", true);
        }
    }
}
