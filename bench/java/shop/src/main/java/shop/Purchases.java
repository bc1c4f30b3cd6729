package shop;

import java.util.List;

import org.springframework.data.jpa.repository.JpaRepository;

interface Purchases extends JpaRepository<Purchase, Long> {
	List<Purchase> findTop5ByCustomerNameOrderByIdDesc(String name);
}
