#include "profile/writers/jfr/jfr_weights.h"

#include <string.h>

#define UNITS 128      /* in an interval */
#define SLACK 4        /* units that a weight may be off by: a 32nd of an interval */
#define DEFAULT_UNIT 1000
#define SMOOTHING 16

void jfr_weights_init(struct jfr_weights *w, uint64_t interval)
{
	memset(w, 0, sizeof(*w));
	buffer_init(&w->text, -1);
	w->unit = interval >= UNITS ? (int64_t)(interval / UNITS) : interval ? 1 : DEFAULT_UNIT;
}

void jfr_weights_free(struct jfr_weights *w)
{
	buffer_free(&w->text);
}

/* 5 bits a letter, the lowest first; of the first letter the lowest bit is the sign. */
static void put_letters(struct buffer *b, int64_t number)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint64_t rest = number < 0 ? (uint64_t)-number << 1 | 1 : (uint64_t)number << 1;

	do {
		unsigned bits = rest & 31;

		rest >>= 5;
		buffer_putc(b, letters[bits | (rest ? 32 : 0)]);
	} while (rest);
}

static void put_repeats(struct jfr_weights *w)
{
	if (w->begun)
		put_letters(&w->text, (int64_t)w->repeats);
	w->repeats = 0;
}

/* Follow what is usual, slowly, but for jumps. */
static bool is_usual(struct jfr_weights *w, int64_t weight)
{
	int64_t off = weight - w->usual;

	if (off > 4 * SLACK * w->unit || off < -4 * SLACK * w->unit) {
		w->usual = weight;
		return false;
	}
	w->usual += off / SMOOTHING;
	return true;
}

/*
 * The weight to write where DUE ns are to be: the usual one, so that many more can be like it, as far as the
 * slack allows; more or less of it works off what is carried.
 */
static int64_t choose(const struct jfr_weights *w, int64_t due, bool usual)
{
	int64_t exact = due / w->unit, chosen = exact;

	if (usual) {
		chosen = (w->usual + w->carried / SLACK) / w->unit;
		chosen = MAX(MIN(chosen, exact + SLACK - 1), exact - SLACK + 1);
	}
	return MAX(chosen, 0);
}

void jfr_weights_add(struct jfr_weights *w, uint64_t weight)
{
	int64_t due = (int64_t)weight + w->carried, off = due - w->last * w->unit, chosen;
	bool usual = is_usual(w, (int64_t)weight);

	if (w->begun && off <= SLACK * w->unit && off >= -SLACK * w->unit) {
		w->repeats++;
		w->carried = off;
		return;
	}
	chosen = choose(w, due, usual);
	put_repeats(w);
	put_letters(&w->text, chosen - w->last);
	w->begun = true;
	w->last = chosen;
	w->carried = due - chosen * w->unit;
}

const char *jfr_weights_text(struct jfr_weights *w)
{
	put_repeats(w);
	buffer_putc(&w->text, '\0');
	return w->text.failed ? NULL : w->text.data;
}

void jfr_weights_forget(struct jfr_weights *w)
{
	w->text.length = 0;
	w->text.failed = 0;
	w->last = 0;
	w->repeats = 0;
	w->begun = false;
}
