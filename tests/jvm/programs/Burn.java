/** What a native program calls in the JVM that it makes, and a program of its own. */
public class Burn {
	/* Made before burn begins: that alone takes 50 ms on a slow machine. */
	static final java.lang.management.ThreadMXBean threads = java.lang.management.ManagementFactory.getThreadMXBean();
	static double sum = threads.getCurrentThreadCpuTime();

	static void burn(long ms) {
		long until = threads.getCurrentThreadCpuTime() + ms * 1_000_000;
		while (threads.getCurrentThreadCpuTime() < until)
			for (int i = 0; i < 100_000; i++)
				sum += i;
	}

	public static void main(String[] args) {
		burn(300);
		System.out.println("burnt 300");
	}
}
