/*
 * filter.h - include and exclude: which stacks of a profile are shown.
 * Inner header of the format room.
 */
#ifndef JSTROBE_FORMAT_FILTER_H
#define JSTROBE_FORMAT_FILTER_H

#include "format/format.h"

/* Whether TEXT matches PATTERN[0..LENGTH), in which '*' stands for anything at its begin and end. */
bool filter_match(const char *pattern, size_t length, const char *text);
/* Whether OPTIONS leave any stack out at all. */
bool filter_is_set(const struct format_options *options);
/*
 * Make VIEW the part of P that OPTIONS let through; it borrows all of P but its stacks, which the
 * caller frees: free((void *)view->stacks). 0 or -ENOMEM (nothing to free).
 */
int filter_apply(const struct profile *p, const struct format_options *options,
		 struct profile *view);

#endif
