/*
 * explanation.h - a whole result as a few kilobytes of plain text, for a ticket or for a language model: where it comes
 * from, findings, hot paths, waits, memory, and what to ask next. What has no room is named with its sum.
 */
#ifndef JSTROBE_VIEWS_EXPLANATION_H
#define JSTROBE_VIEWS_EXPLANATION_H

#include "common/base/buffer.h"
#include "profile/model/profile.h"
#include "profile/model/surroundings.h"

#define EXPLANATION_MOST 4096 /* bytes, whatever the result holds */

enum explained_part {
	EXPLAINED_SETUP = 1 << 0,
	EXPLAINED_FINDINGS = 1 << 1,
	EXPLAINED_METHODS = 1 << 2,
	EXPLAINED_PATHS = 1 << 3,
	EXPLAINED_WAITS = 1 << 4,
	EXPLAINED_MEMORY = 1 << 5,
	EXPLAINED_NEXT = 1 << 6,
	EXPLAINED_ALL = (1 << 7) - 1,
};

struct explained {
	const char *file; /* name of the result, as commands are to have it */
	const struct profile *const *profiles;
	uint32_t count;
	const struct surroundings *around; /* NULL: not known */
	unsigned parts;     /* bits of enum explained_part */
	size_t most;        /* bytes */
	uint32_t depth;     /* levels of paths; 0: any number */
	const char *method; /* paths are from it to what it calls, or with `callers` to those who call it; NULL: all */
	bool callers;
};

/*
 * Append it to OUT, as text or as a JSON object with the same in it. 0 or a negative errno; -ENOENT: there is no
 * `method` of that name. Normal code.
 */
int explanation_put(const struct explained *e, bool json, struct buffer *out);

#endif
