package demo;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The books: one lock that all workers and the reporter want. */
final class Ledger {
    private static final int RECENT = 5000;
    private final Map<String, Long> byCustomer = new HashMap<>();
    private final TreeMap<String, Long> byDay = new TreeMap<>();
    private final Deque<Order> recent = new ArrayDeque<>();
    private long booked, refused;

    synchronized void book(Order order, long cents) {
        booked++;
        byCustomer.merge(order.customer, cents, Long::sum);
        byDay.merge(order.day, cents, Long::sum);
        recent.addLast(order);
        if (recent.size() > RECENT) {
            recent.removeFirst();
        }
    }

    synchronized void refuse(Order order, String fault) {
        refused++;
        byCustomer.merge("refused for " + fault, 1L, Long::sum);
    }

    /** The largest recent orders: sorts under the lock, so that others have to wait for it. */
    synchronized List<Order> report() {
        List<Order> sorted = new ArrayList<>(recent);
        sorted.sort(Comparator.comparingInt((Order o) -> o.lines.size()).reversed().thenComparing(o -> o.day));
        return new ArrayList<>(sorted.subList(0, Math.min(10, sorted.size())));
    }

    synchronized String summary() {
        return booked + " orders booked, " + refused + " refused, " + byDay.size() + " days";
    }
}
