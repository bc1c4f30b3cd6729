/*
 * apply.h - values of options by their kinds. Inner header of apply.c and apply_words.c.
 *
 * Each checks VALUE and stores it where OPTION says (or where its kind always goes). 0, or -EINVAL with a text that
 * calls the option NAME, as it was spelled.
 */
#ifndef JSTROBE_OPTIONS_APPLY_H
#define JSTROBE_OPTIONS_APPLY_H

#include "common/options/option_table.h"

static inline void *apply_field(const struct option *option, struct options *o)
{
	return (char *)o + option->offset;
}

int apply_count(const struct option *option, const char *name, const char *value, struct options *o,
		struct error *err);
int apply_cstack(const struct option *option, const char *name, const char *value, struct options *o,
		 struct error *err);
/* VALUE: the number behind flat or traces, else NULL. */
int apply_format_word(const struct option *option, const char *name, const char *value, struct options *o,
		      struct error *err);
int apply_format_list(const char *value, struct options *o, struct error *err);
int apply_omitted(const struct option *option, const char *name, const char *value, struct options *o,
		  struct error *err);
int apply_features(const char *value, struct options *o, struct error *err);
int apply_rate_limit(const char *value, struct options *o, struct error *err);
int apply_word(const struct option *option, const char *name, const char *value, struct options *o,
	       struct error *err);
int apply_loglevel(const char *name, const char *value, struct options *o, struct error *err);

#endif
