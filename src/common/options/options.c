/*
 * The table itself, the defaults, and the words that come near a wrong one.
 */
#include "common/options/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/knob.h"
#include "common/options/option_table.h"

#define NOWHERE 0, 0, NULL, 0
#define F(field) offsetof(struct options, field), sizeof(((struct options *)0)->field), NULL, 0
#define S(format) 0, 0, format, 0
#define V(value) 0, 0, NULL, ACTION_##value

/* The places have commas of their own, so the row is passed on as it is. */
#define ROW(...) {__VA_ARGS__},
#define OPTION(kind, place, agent, name, letter, arg, initial, min, max, group, when, help)       \
	ROW(OPTION_##kind, place, agent, name, letter, arg, min, max, OPTIONS_##group, WHEN_##when)

const struct option option_table[] = {
#include "common/options/options.def"
	{.kind = OPTION_END},
};

const char *const option_group_names[OPTION_GROUPS] = {
	[OPTIONS_ACTIONS] = "Actions",
	[OPTIONS_SAMPLING] = "Sampling",
	[OPTIONS_TRACING] = "Tracing calls",
	[OPTIONS_OUTPUT] = "Result",
	[OPTIONS_CONVERTING] = "Converting files",
	[OPTIONS_TALKING] = "Attaching and messages",
	[OPTIONS_TESTING] = "Rarely needed",
	[OPTIONS_INTERNALS] = "From the command to its agent",
};

void options_init(struct options *o)
{
	memset(o, 0, sizeof(*o));
	strcpy(o->event, "cpu");
	o->depth = 2048;
	o->target_cpu = OPTIONS_ANY_CPU;
	o->survived = 1;
	o->attach_timeout = 10 * NS_PER_S;
}

bool option_is(const char *word, const char *text, size_t n)
{
	return word && strlen(word) == n && memcmp(word, text, n) == 0;
}

bool option_is_called(const char *word, const char *text, size_t n)
{
	return word && strlen(word) == n && ascii_begins(word, text, n);
}

void option_note(struct options *o, const char *fmt, ...)
{
	size_t used = strlen(o->notes), room = sizeof(o->notes) - used;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(o->notes + used, room, fmt, args);
	va_end(args);
	if (n < 0 || (size_t)n + 1 >= room)
		o->notes[used] = '\0';
	else
		memcpy(o->notes + used + n, "\n", 2);
}

/* Edit distance of A and B, letter case aside; a swap of neighbours counts 1. Up to 31 letters. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][32];
	size_t la = strlen(a), lb = strlen(b), i, j;

	if (la > 31 || lb > 31)
		return 99;
	for (j = 0; j <= lb; j++)
		rows[0][j] = (unsigned)j;
	for (i = 1; i <= la; i++) {
		unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (j = 1; j <= lb; j++) {
			bool same = ascii_lower(a[i - 1]) == ascii_lower(b[j - 1]);
			unsigned best = last[j - 1] + (same ? 0 : 1);

			best = MIN(best, last[j] + 1);
			best = MIN(best, now[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, before[j - 2] + 1);
			now[j] = best;
		}
	}
	return rows[la % 3][lb];
}

const char *options_nearest(const char *word, const char *const *candidates)
{
	const char *nearest = NULL;
	unsigned least = (unsigned)MIN(strlen(word) / 3 + 1, (size_t)3) + 1;

	for (; *candidates; candidates++) {
		unsigned d = distance(word, *candidates);

		/* what differs in more than half of a short word is another word: "malloc" is no "wall" */
		if (d < least && d <= strlen(*candidates) / 2) {
			least = d;
			nearest = *candidates;
		}
	}
	return nearest;
}
