package shop;

import java.util.ArrayList;
import java.util.List;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;

@Entity
public class Purchase {
	@Id
	@GeneratedValue
	private Long id;
	@ManyToOne
	private Customer customer;
	@OneToMany(cascade = CascadeType.ALL)
	private List<Line> lines = new ArrayList<>();

	protected Purchase() {
	}

	Purchase(Customer customer) {
		this.customer = customer;
	}

	public Long getId() {
		return id;
	}

	public Customer getCustomer() {
		return customer;
	}

	public List<Line> getLines() {
		return lines;
	}

	public long getTotal() {
		return lines.stream().mapToLong(line -> line.getCount() * line.getCents()).sum();
	}
}
