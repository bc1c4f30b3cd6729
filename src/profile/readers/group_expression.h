/*
 * group_expression.h - groups of threads as the user wants them: a POSIX extended regular expression, whose first
 * group, or all that it matches, is the group of the names that it matches. The command alone has it: no program's
 * library has set a locale there.
 */
#ifndef JSTROBE_READERS_GROUP_EXPRESSION_H
#define JSTROBE_READERS_GROUP_EXPRESSION_H

#include <regex.h>

#include "common/base/error.h"
#include "profile/model/work/thread_pattern.h"

struct group_expression {
	struct thread_namer namer;
	regex_t compiled;
	bool is_there;
};

/* Read TEXT; "": there is none. 0 or -EINVAL. */
int group_expression_read(struct group_expression *g, const char *text, struct error *err);
/* For format_options.namer; NULL: there is none. */
const struct thread_namer *group_expression_namer(const struct group_expression *g);
void group_expression_free(struct group_expression *g);

#endif
