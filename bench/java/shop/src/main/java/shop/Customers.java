package shop;

import org.springframework.data.jpa.repository.JpaRepository;

interface Customers extends JpaRepository<Customer, Long> {
	Customer findByName(String name);
}
