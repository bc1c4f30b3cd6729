package selftest;

import java.util.List;
import java.util.Random;

/** A program of known truth that runs until a moment of nanoTime(). */
interface Scenario {
    /** Start the threads that do it, until END; they tell TRUTH when they are through. */
    void start(long end, Truth truth, Random random, List<Thread> threads) throws Exception;
}
