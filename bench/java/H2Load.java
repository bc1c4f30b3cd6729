import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Random;

/** An ordinary load: bank transfers in an in-memory H2, until stdin ends. */
public final class H2Load {
    public static void main(String[] args) throws Exception {
        Connection setup = open();
        try (Statement s = setup.createStatement()) {
            s.execute("create table account(id int primary key, balance bigint)");
            s.execute("create table history(id int, delta int)");
            s.execute("insert into account select x, 0 from system_range(1, 100000)");
        }
        for (int i = 0; i < 2; i++) {
            int seed = i;
            Thread thread = new Thread(() -> transfer(new Random(seed)), "client-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        Thread.sleep(2000);
        System.out.println("READY");
        while (System.in.read() >= 0) {
            continue;
        }
    }

    private static Connection open() throws Exception {
        return DriverManager.getConnection("jdbc:h2:mem:bench;DB_CLOSE_DELAY=-1");
    }

    private static void transfer(Random random) {
        try (Connection c = open();
             PreparedStatement update = c.prepareStatement("update account set balance = balance + ? where id = ?");
             PreparedStatement select = c.prepareStatement("select balance from account where id = ?");
             PreparedStatement insert = c.prepareStatement("insert into history values(?, ?)")) {
            c.setAutoCommit(false);
            while (true) {
                int id = 1 + random.nextInt(100_000), delta = random.nextInt(1000) - 500;
                update.setInt(1, delta);
                update.setInt(2, id);
                update.executeUpdate();
                select.setInt(1, id);
                try (ResultSet r = select.executeQuery()) {
                    r.next();
                }
                insert.setInt(1, id);
                insert.setInt(2, delta);
                insert.executeUpdate();
                c.commit();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
