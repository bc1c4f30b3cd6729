package shop;

import java.util.List;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
class Desk {
	private final Purchases purchases;
	private final Customers customers;

	Desk(Purchases purchases, Customers customers) {
		this.purchases = purchases;
		this.customers = customers;
	}

	@Transactional
	public void open(int count) {
		for (int i = 0; i < count; i++)
			customers.save(new Customer("c" + i));
	}

	@Transactional
	public Purchase buy(String name, int lines) {
		Purchase p = new Purchase(customers.findByName(name));
		for (int i = 0; i < lines; i++)
			p.getLines().add(new Line("article " + i, i + 1, 100 + i));
		return purchases.save(p);
	}

	@Transactional(readOnly = true)
	public List<Purchase> last(String name) {
		List<Purchase> found = purchases.findTop5ByCustomerNameOrderByIdDesc(name);
		found.forEach(Purchase::getTotal);
		return found;
	}
}
