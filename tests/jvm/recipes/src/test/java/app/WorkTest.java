package app;

import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class WorkTest {
    @Test
    public void burns() {
        assertTrue(Work.burn(700) != 1);
    }
}
