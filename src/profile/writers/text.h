/*
 * text.h - the parts that the text outputs are put together from.
 * Inner header of the writers room. Each takes 0 or -ENOMEM for an answer.
 */
#ifndef JSTROBE_WRITERS_TEXT_H
#define JSTROBE_WRITERS_TEXT_H

#include "profile/writers/writers.h"

#define TEXT_ALL UINT32_MAX

/* "--- Execution profile ---" with totals, losses by reason and our details. */
void text_header(struct buffer *out, const struct profile *p);
/* The LIMIT hottest stacks, leaf first. */
int text_traces(struct buffer *out, const struct profile *p, const struct format_options *options,
		unsigned limit);
/* The LIMIT methods with most self samples. */
int text_flat(struct buffer *out, const struct profile *p, const struct format_options *options,
	      unsigned limit);

#endif
