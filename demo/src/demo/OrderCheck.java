package demo;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Is an order as it should be? Asked with regular expressions, as is the custom. */
final class OrderCheck {
    private static final Pattern MAIL = Pattern.compile("([a-z0-9_.+-]+)@([a-z0-9-]+\\.)+[a-z]{2,}");
    private static final Pattern DAY = Pattern.compile("(\\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])");
    private static final Pattern ARTICLE = Pattern.compile("([A-Z]{2})-(\\d{4})(-[a-z]+)*");

    private OrderCheck() {
    }

    /** What is wrong with the order, or null. */
    static String fault(Order order) {
        if (!MAIL.matcher(order.mail).matches()) {
            return "mail";
        }
        Matcher day = DAY.matcher(order.day);
        if (!day.matches() || Integer.parseInt(day.group(1)) < 2000) {
            return "day";
        }
        for (Order.Line line : order.lines) {
            if (!ARTICLE.matcher(line.article).matches()) {
                return "article";
            }
        }
        return null;
    }
}
