package shop;

import java.util.List;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
class Web {
	private final Desk desk;

	Web(Desk desk) {
		this.desk = desk;
	}

	@PostMapping("/buy/{name}")
	Purchase buy(@PathVariable("name") String name, @RequestParam("lines") int lines) {
		return desk.buy(name, lines);
	}

	@GetMapping("/last/{name}")
	List<Purchase> last(@PathVariable("name") String name) {
		return desk.last(name);
	}
}
