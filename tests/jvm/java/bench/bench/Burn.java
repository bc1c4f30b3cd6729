package bench;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** A benchmark with a parameter, for JMH's profiler async. */
@State(Scope.Benchmark)
public class Burn {
    @Param({"10", "20"})
    public int turns;

    @Benchmark
    public long burn() {
        long x = turns;
        for (int i = 0; i < 1000 * turns; i++)
            x = x * 31 + i;
        return x;
    }
}
