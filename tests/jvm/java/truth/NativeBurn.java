package truth;

/**
 * The worst case for a sampler that hands samples over only now and then: threads that stay inside
 * one native call. Each thread I has a class of its own, chains.ChainI, whose m1 calls m2 … m100,
 * which calls burn. Arguments: library, threads, ms of one native call (0 = as long as it lives).
 */
public final class NativeBurn {
    public static native void burn(long cpuNanos);

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        int threads = Integer.parseInt(args[1]);
        long nanos = Long.parseLong(args[2]) * 1_000_000L;
        for (int i = 0; i < threads; i++) {
            Runnable body = (Runnable) Class.forName("chains.Chain" + i + "$Body")
                .getConstructor(long.class).newInstance(nanos == 0 ? Long.MAX_VALUE : nanos);
            Program.thread("burn-" + i, body);
        }
        Program.sleep(300); // until all are inside
        Program.serve();
    }
}
