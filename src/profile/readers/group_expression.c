#include "profile/readers/group_expression.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 256 /* bytes of a name that an expression is held against */
#define TIMES_MOST 100 /* of all {times} together: glibc spells each of them out */
#define LENGTH_MOST 500

/* The larger number of a "{2,7}" that begins at AT. */
static unsigned long times_at(const char *at)
{
	char *end;
	unsigned long least = strtoul(at + 1, &end, 10), most = *end == ',' ? strtoul(end + 1, NULL, 10) : 0;

	return MAX(least, most);
}

/*
 * What could take for ever, or all memory, in glibc: back references, and counts that come to much inside each other.
 * NULL: none of these.
 */
static const char *too_costly(const char *text)
{
	unsigned long times = 1;
	const char *at;

	for (at = text; *at; at++) {
		if (*at == '\\' && at[1] >= '1' && at[1] <= '9')
			return "back references are not taken";
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '{')
			times *= MIN(MAX(times_at(at), 1ul), TIMES_MOST + 1ul);
		if (times > TIMES_MOST)
			return "its counts in braces come to more than 100";
	}
	return strlen(text) > LENGTH_MOST ? "it has more than 500 characters" : NULL;
}

static const char *part_of(const struct thread_namer *namer, const char *name, size_t *length)
{
	const struct group_expression *g = CONTAINER_OF(namer, struct group_expression, namer);
	regmatch_t found[2];
	const regmatch_t *part = found;
	char begin[NAME_MOST + 1];

	/* places in it are those in the name */
	snprintf(begin, sizeof(begin), "%s", name);
	if (regexec(&g->compiled, begin, ARRAY_LEN(found), found, 0))
		return NULL;
	part += g->compiled.re_nsub && found[1].rm_so >= 0;
	*length = (size_t)(part->rm_eo - part->rm_so);
	return name + part->rm_so;
}

int group_expression_read(struct group_expression *g, const char *text, struct error *err)
{
	char why[128];
	int rc;

	g->is_there = false;
	if (!*text)
		return 0;
	if (too_costly(text))
		return error_set(err, EINVAL, "--group '%.200s': %s; (http|pool)- puts threads together by that part "
				 "of their names", text, too_costly(text));
	rc = regcomp(&g->compiled, text, REG_EXTENDED);
	if (rc) {
		regerror(rc, &g->compiled, why, sizeof(why));
		return error_set(err, EINVAL, "--group '%s' is no regular expression: %s; (http|pool)- puts threads "
				 "together by that part of their names", text, why);
	}
	g->namer.part = part_of;
	g->is_there = true;
	return 0;
}

const struct thread_namer *group_expression_namer(const struct group_expression *g)
{
	return g->is_there ? &g->namer : NULL;
}

void group_expression_free(struct group_expression *g)
{
	if (g->is_there)
		regfree(&g->compiled);
	g->is_there = false;
}
