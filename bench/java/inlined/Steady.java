/** What all programs of this folder do: the same piece of work again and again, READY once it has run for a while. */
public final class Steady {
    public interface Work {
        long once() throws Exception;
    }

    public static volatile long sink;

    /** Until stdin ends; READY after SECONDS (a property, 15). */
    public static void run(Work work) throws Exception {
        long begin = System.nanoTime();
        long warm = Long.getLong("steady.seconds", 15) * 1_000_000_000L;
        boolean ready = false;
        Thread watch = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    continue;
                }
            } catch (java.io.IOException e) {
                // as at the end
            }
            Runtime.getRuntime().halt(0);
        });
        watch.setDaemon(true);
        watch.start();
        while (true) {
            sink += work.once();
            if (!ready && System.nanoTime() - begin >= warm) {
                ready = true;
                System.out.println("READY");
                System.out.flush();
            }
        }
    }
}
