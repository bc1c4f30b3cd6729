/*
 * jfr_weights.h - weights of samples whose own event has no place for them, as one text. Inner header.
 *
 * The text is pairs of numbers in base-64 VLQ, known from source maps: the difference to the weight before
 * (0 before the first), in units, and how many further samples have the same weight. A sample whose weight is
 * within a 32nd of the interval of the one before counts as having the same: the difference is carried
 * to the next. So what is written up to any sample is off by no more than that, however many there are,
 * and a sample of a steady timer takes a third of a byte.
 */
#ifndef JSTROBE_WRITERS_JFR_JFR_WEIGHTS_H
#define JSTROBE_WRITERS_JFR_JFR_WEIGHTS_H

#include "common/base/buffer.h"

struct jfr_weights {
	struct buffer text;
	int64_t unit;          /* ns */
	int64_t last;          /* in units */
	uint64_t repeats;      /* of it, not in the text yet */
	int64_t carried;       /* ns that came, but were not written */
	int64_t usual;         /* ns, about what weights are at present */
	bool begun;            /* the text has a weight */
};

/* For samples that come each INTERVAL ns (0 = not known). To be freed by jfr_weights_free. */
void jfr_weights_init(struct jfr_weights *w, uint64_t interval);
void jfr_weights_free(struct jfr_weights *w);
/* The next sample's, ns. */
void jfr_weights_add(struct jfr_weights *w, uint64_t weight);
/* The text so far, which nothing may be added to; NULL when out of memory. It is W's. */
const char *jfr_weights_text(struct jfr_weights *w);
/* Begin a new text; what was carried stays. */
void jfr_weights_forget(struct jfr_weights *w);

#endif
