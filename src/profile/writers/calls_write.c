/*
 * calls_write.c - which writer of a trace serves a word of formats.def.
 */
#include <string.h>

#include "common/base/vector.h"
#include "profile/model/calls.h"

/* What is not in the table is text, with all parts. */
static const struct {
	const char *name;
	unsigned parts;
} texts[] = {
	{"hot", CALLS_HOT | CALLS_TREE},
	{"flat", CALLS_HOT},
	{"calltree", CALLS_TREE},
	{"traces", CALLS_BACK},
};

static bool is(const char *name, const char *one, const char *other)
{
	return strcmp(name, one) == 0 || strcmp(name, other) == 0;
}

/* For people: what terminals would obey is written out. */
static void write_text(const struct calls *c, const char *name, const struct calls_style *style, struct buffer *out)
{
	unsigned parts = CALLS_ALL, i;

	buffer_clean_begin(out);
	if (is(name, "collapsed", "folded")) {
		calls_collapsed(c, style->total && c->timed, out);
	} else if (is(name, "loss", "loss")) {
		calls_overhead(c, out);
	} else {
		for (i = 0; i < ARRAY_LEN(texts); i++)
			if (is(name, texts[i].name, texts[i].name))
				parts = texts[i].parts;
		calls_text(c, parts, style, out);
	}
	buffer_clean_end(out);
}

void calls_write(const struct calls *c, const char *name, const struct calls_style *style, struct buffer *out)
{
	if (is(name, "json", "json"))
		calls_json(c, out);
	else if (is(name, "flamegraph", "html"))
		calls_page(c, style, out);
	else if (is(name, "jfr", "jfr"))
		calls_jfr(c, out);
	else
		write_text(c, name, style, out);
}
