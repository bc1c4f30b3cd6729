/*
 * top_filter.h - which rows of a screen are wanted: a POSIX extended regular expression, as it is typed, letter by
 * letter.
 */
#ifndef JSTROBE_CLI_LIVE_TOP_FILTER_H
#define JSTROBE_CLI_LIVE_TOP_FILTER_H

#include <regex.h>

#include "common/base/base.h"

struct top_filter {
	char text[128];   /* that was taken last; "" = all rows are wanted */
	regex_t compiled; /* of the last text that was an expression */
	bool is_there;
};

/*
 * Take TEXT, which is shorter than that. False: it is no expression, as WHY of SIZE bytes says; the one before goes on.
 */
bool top_filter_take(struct top_filter *f, const char *text, char *why, size_t size);
/* NULL: all rows are wanted. */
const regex_t *top_filter_wanted(const struct top_filter *f);
void top_filter_free(struct top_filter *f);

#endif
