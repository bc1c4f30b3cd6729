package truth;

/**
 * Programs of known truth side by side in one JVM: one run says much about one JVM in one mode.
 * Counters are those of the programs.
 */
public final class Mixture {
    public static void main(String[] args) throws Exception {
        Program.hosted = true;
        OneChain.main(args);
        Recursion.main(new String[] {"200"});
        Words.main(args);
        CloneCopy.main(args);
        Deflate.main(args);
        ClassInit.main(args);
        Exceptions.main(new String[] {"200"});
        if (hasVirtualThreads()) {
            VirtualThreads.main(new String[] {"2"});
        }
        Program.hosted = false;
        Program.serve();
    }

    private static boolean hasVirtualThreads() {
        try {
            return Thread.class.getMethod("ofVirtual") != null;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }
}
