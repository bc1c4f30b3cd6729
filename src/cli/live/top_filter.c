#include "cli/live/top_filter.h"

#include <stdio.h>

bool top_filter_take(struct top_filter *f, const char *text, char *why, size_t size)
{
	regex_t fresh;
	char error[128];
	int rc;

	snprintf(f->text, sizeof(f->text), "%s", text);
	rc = *f->text ? regcomp(&fresh, f->text, REG_EXTENDED | REG_NOSUB) : 0;
	if (rc) {
		regerror(rc, &fresh, error, sizeof(error));
		snprintf(why, size, "%s: /%.100s/", error, f->text);
		return false;
	}
	top_filter_free(f);
	f->is_there = *f->text;
	if (f->is_there)
		f->compiled = fresh;
	return true;
}

const regex_t *top_filter_wanted(const struct top_filter *f)
{
	return f->is_there ? &f->compiled : NULL;
}

void top_filter_free(struct top_filter *f)
{
	if (f->is_there)
		regfree(&f->compiled);
	f->is_there = false;
}
