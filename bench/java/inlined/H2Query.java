import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Random;

/** H2: joins, ranges and sums over tables in memory. */
public final class H2Query {
    public static void main(String[] args) throws Exception {
        Connection c = DriverManager.getConnection("jdbc:h2:mem:inlined");
        try (Statement s = c.createStatement()) {
            s.execute("create table customer(id int primary key, city int, name varchar(40))");
            s.execute("create table sale(id int primary key, customer int, amount decimal(12, 2), sold int)");
            s.execute("insert into customer select x, mod(x * 31, 97), 'name' || x from system_range(1, 2000)");
            s.execute("insert into sale select x, 1 + mod(x * 7919, 2000), mod(x * 13, 9973) / 100.0, mod(x, 365)"
                    + " from system_range(1, 20000)");
            s.execute("create index sale_customer on sale(customer)");
            s.execute("create index sale_day on sale(sold)");
        }
        PreparedStatement join = c.prepareStatement("select c.city, count(*), sum(s.amount) from customer c"
                + " join sale s on s.customer = c.id where c.city < ? group by c.city");
        PreparedStatement range = c.prepareStatement("select s.id, s.amount, c.name from sale s join customer c"
                + " on c.id = s.customer where s.sold between ? and ? order by s.amount desc limit 20");
        Random random = new Random(1);
        Steady.run(() -> {
            long sum = 0;
            join.setInt(1, 5 + random.nextInt(20));
            try (ResultSet r = join.executeQuery()) {
                while (r.next()) {
                    sum += r.getInt(2);
                }
            }
            int day = random.nextInt(330);
            range.setInt(1, day);
            range.setInt(2, day + 20);
            try (ResultSet r = range.executeQuery()) {
                while (r.next()) {
                    sum += r.getInt(1) + r.getString(3).length();
                }
            }
            return sum;
        });
    }
}
