package shop;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;

@Entity
public class Line {
	@Id
	@GeneratedValue
	private Long id;
	private String article;
	private int count_;
	private long cents;

	protected Line() {
	}

	Line(String article, int count, long cents) {
		this.article = article;
		this.count_ = count;
		this.cents = cents;
	}

	public String getArticle() {
		return article;
	}

	public int getCount() {
		return count_;
	}

	public long getCents() {
		return cents;
	}
}
