package shop;

import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;

/** A web shop under its own load: THREADS clients ask it without pause; each second: "RATE requests worst-ms". */
@SpringBootApplication
public class Shop {
	private static final AtomicLong done = new AtomicLong(), worst = new AtomicLong();
	private static int port;

	private static void ask(String method, String path) throws Exception {
		HttpURLConnection c = (HttpURLConnection) new URL("http://127.0.0.1:" + port + path).openConnection();
		c.setRequestMethod(method);
		try (InputStream in = c.getInputStream()) {
			in.readAllBytes();
		}
	}

	private static void load(int client) {
		try {
			for (int i = 0;; i++) {
				long began = System.nanoTime();
				if (i % 4 == 0)
					ask("POST", "/buy/c" + (i + client) % 20 + "?lines=3");
				else
					ask("GET", "/last/c" + (i + client) % 20);
				done.incrementAndGet();
				worst.accumulateAndGet(System.nanoTime() - began, Math::max);
			}
		} catch (Exception e) {
			e.printStackTrace();
			System.exit(3);
		}
	}

	/** The longest stop of the world: a thread that sleeps for 1 ms at a time and sees how long it took. */
	private static final AtomicLong pause = new AtomicLong();

	private static void pauses() {
		try {
			for (long last = System.nanoTime();;) {
				Thread.sleep(1);
				long now = System.nanoTime();
				pause.accumulateAndGet(now - last - 1_000_000, Math::max);
				last = now;
			}
		} catch (InterruptedException e) {
			return;
		}
	}

	private static void start(String name, Runnable run) {
		Thread t = new Thread(run, name);
		t.setDaemon(true);
		t.start();
	}

	public static void main(String[] args) throws Exception {
		int threads = args.length > 0 ? Integer.parseInt(args[0]) : 2;
		ServletWebServerApplicationContext context =
			(ServletWebServerApplicationContext) SpringApplication.run(Shop.class);

		port = context.getWebServer().getPort();
		context.getBean(Desk.class).open(20);
		for (int i = 0; i < threads; i++) {
			int client = i;
			start("client-" + i, () -> load(client));
		}
		start("pauses", Shop::pauses);
		System.out.println("READY");
		for (;;) {
			Thread.sleep(1000);
			System.out.println("RATE " + done.getAndSet(0) + " " + worst.getAndSet(0) / 1_000_000 + " "
				+ pause.getAndSet(0) / 1_000_000);
		}
	}
}
