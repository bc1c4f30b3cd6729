/*
 * expressions.h - patterns as jfrconv has them: regular expressions of Java that a name has to match as a whole.
 *
 * The C library's extended expressions do the work; what Java spells differently is spelled anew, and what they cannot
 * say (look-around, references to groups, classes of Unicode) is refused.
 */
#ifndef JSTROBE_READERS_EXPRESSIONS_H
#define JSTROBE_READERS_EXPRESSIONS_H

#include <regex.h>

#include "common/base/error.h"
#include "common/base/vector.h"

struct expressions {
	VECTOR(regex_t) items;
};

/* Read LIST, an expression a line. OPTION is how the user calls it. 0, -EINVAL or -ENOMEM; free in all cases. */
int expressions_read(struct expressions *e, const char *list, const char *option, struct error *err);
/* Whether one of them matches the whole of TEXT. */
bool expressions_match(const struct expressions *e, const char *text);
void expressions_free(struct expressions *e);

#endif
