package demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An order as a client sent it. */
final class Order {
    static final class Line {
        final String article;
        final int count;

        Line(String article, int count) {
            this.article = article;
            this.count = count;
        }
    }

    final long number;
    final String customer;
    final String mail;
    final String day;
    final List<Line> lines = new ArrayList<>();

    private Order(Map<?, ?> json) {
        number = ((Double) json.get("number")).longValue();
        customer = (String) json.get("customer");
        mail = (String) json.get("mail");
        day = (String) json.get("day");
        for (Object item : (List<?>) json.get("lines")) {
            Map<?, ?> line = (Map<?, ?>) item;
            lines.add(new Line((String) line.get("article"), ((Double) line.get("count")).intValue()));
        }
    }

    static Order from(Object json) {
        return new Order((Map<?, ?>) json);
    }
}
