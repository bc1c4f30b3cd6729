package selftest;

/** The methods that are traced: each measures itself, inside of what the probes see. What they call has no probes. */
final class Traced {
    long outerWall, worksWall, worksCpu, sleepsWall, value;
    long outer, works, sleeps, quick, recursive, made, failed;

    Traced(long value) {
        this.value = value;
    }

    static Traced make(Traced other) {
        Traced made = new Traced(other.value + 1);
        other.made++;
        return made;
    }

    /** One round: all methods below, for random times. */
    void outer(java.util.Random random) {
        long at = System.nanoTime();
        outer++;
        works(50_000 + random.nextInt(1_500_000));
        for (int i = 0; i < 100; i++) {
            value = quick(value);
        }
        recursive(7);
        value = make(this).value;
        if (random.nextInt(4) == 0) {
            sleeps(1 + random.nextInt(3));
        }
        try {
            fails(random.nextInt(2));
        } catch (IllegalStateException e) {
            value++;
        }
        outerWall += System.nanoTime() - at;
    }

    private void works(long ns) {
        long at = System.nanoTime(), cpu = Truth.cpu();
        works++;
        Work.spin(ns);
        worksCpu += Truth.cpu() - cpu;
        worksWall += System.nanoTime() - at;
    }

    private long quick(long x) {
        quick++;
        return x * 31 + 7;
    }

    private void recursive(int n) {
        recursive++;
        if (n > 0) {
            recursive(n - 1);
        }
    }

    private void sleeps(int ms) {
        long at = System.nanoTime();
        sleeps++;
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        sleepsWall += System.nanoTime() - at;
    }

    private void fails(int how) {
        failed++;
        if (how == 0) {
            throw new IllegalStateException();
        }
    }
}
