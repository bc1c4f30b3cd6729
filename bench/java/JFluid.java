import org.graalvm.visualvm.lib.jfluid.ProfilerEngineSettings;
import org.graalvm.visualvm.lib.jfluid.TargetAppRunner;
import org.graalvm.visualvm.lib.jfluid.client.AppStatusHandler;
import org.graalvm.visualvm.lib.jfluid.client.ClientUtils.SourceCodeSelection;
import org.graalvm.visualvm.lib.jfluid.client.ProfilingPointsProcessor;
import org.graalvm.visualvm.lib.jfluid.client.RuntimeProfilingPoint;
import org.graalvm.visualvm.lib.jfluid.filters.GenericFilter;
import org.graalvm.visualvm.lib.jfluid.filters.JavaTypeFilter;
import org.graalvm.visualvm.lib.jfluid.global.CommonConstants;

/**
 * VisualVM's profiling engine without its window: JFluid LIBDIR PORT sampled|exact|default CLASS ROOT... waits for a JVM
 * that was started with -agentpath:libprofilerinterface-jdk16.so=LIBDIR,PORT, instruments CLASS from the methods
 * ROOT ("name(signature)") on, says "profiling", and does so until its input ends.
 */
public final class JFluid {
    public static void main(String[] args) throws Exception {
        ProfilerEngineSettings settings = settings(args);
        SourceCodeSelection[] roots = new SourceCodeSelection[args.length - 4];
        for (int i = 0; i < roots.length; i++) {
            String root = args[4 + i];
            int signature = root.indexOf('(');
            roots[i] = new SourceCodeSelection(args[3], root.substring(0, signature), root.substring(signature));
        }
        TargetAppRunner runner = new TargetAppRunner(settings, new Silent(), new NoPoints());
        if (!runner.readSavedCalibrationData()) {
            throw new IllegalStateException("no calibration data for this JVM in ~/.nbprofiler");
        }
        if (!runner.initiateSession(1, false) || !runner.attachToTargetVMOnStartup()) {
            throw new IllegalStateException("the JVM does not answer");
        }
        runner.getProfilerClient().initiateRecursiveCPUProfInstrumentation(roots);
        runner.resumeTargetAppIfSuspended();
        System.out.println("profiling");
        while (System.in.read() >= 0) {
            continue;
        }
        runner.terminateTargetJVM();
        System.exit(0);
    }

    private static ProfilerEngineSettings settings(String[] args) throws Exception {
        ProfilerEngineSettings settings = new ProfilerEngineSettings();
        settings.initialize(args[0]);
        settings.setPortNo(Integer.parseInt(args[1]));
        settings.setTargetJDKVersionString(CommonConstants.JDK_170_STRING);
        settings.setSystemArchitecture(CommonConstants.ARCH_64);
        settings.setCPUProfilingType(args[2].equals("sampled") ? CommonConstants.CPU_INSTR_SAMPLED : CommonConstants.CPU_INSTR_FULL);
        settings.setAbsoluteTimerOn(true);
        settings.setThreadCPUTimerOn(args[2].equals("default"));
        settings.setSamplingInterval(10);
        settings.setInstrScheme(CommonConstants.INSTRSCHEME_LAZY);
        settings.setInstrumentGetterSetterMethods(true);
        settings.setInstrumentEmptyMethods(true);
        settings.setInstrumentationFilter(new JavaTypeFilter(args[3], GenericFilter.TYPE_INCLUSIVE));
        return settings;
    }

    private static final class NoPoints extends ProfilingPointsProcessor {
        @Override public void profilingPointHit(RuntimeProfilingPoint.HitEvent event) { }
        @Override public void timeAdjust(int thread, long from, long to) { }
        @Override public void init(Object project) { }
        @Override public RuntimeProfilingPoint[] getSupportedProfilingPoints() {
            return new RuntimeProfilingPoint[0];
        }
    }

    private static final class Silent implements AppStatusHandler {
        @Override public AsyncDialog getAsyncDialogInstance(String message, boolean progress, Runnable cancel) {
            return new AsyncDialog() {
                @Override public void close() { }
                @Override public void display() { }
            };
        }

        private void say(String message) {
            System.err.println("visualvm: " + message);
        }

        @Override public void displayError(String message) { say(message); }
        @Override public void displayErrorAndWaitForConfirm(String message) { say(message); }
        @Override public void displayErrorWithDetailsAndWaitForConfirm(String message, String details) { say(message + details); }
        @Override public void displayNotification(String message) { say(message); }
        @Override public void displayNotificationAndWaitForConfirm(String message) { say(message); }
        @Override public void displayNotificationWithDetailsAndWaitForConfirm(String message, String details) { say(message); }
        @Override public void displayWarning(String message) { say(message); }
        @Override public void displayWarningAndWaitForConfirm(String message) { say(message); }
        @Override public void resultsAvailable() { }
        @Override public void takeSnapshot() { }
        @Override public boolean confirmWaitForConnectionReply() { return true; }
        @Override public void handleShutdown() { }
        @Override public void pauseLiveUpdates() { }
        @Override public void resumeLiveUpdates() { }
    }
}
