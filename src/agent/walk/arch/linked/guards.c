/*
 * guards.c (linked) - checks are not looked for in this CPU's code: the next described place counts.
 */
#include "agent/walk/guards.h"

bool guards_find(const struct layout *l, const struct blob *b, const struct debug_info *d, uintptr_t pc, bool is_return,
		 struct guarded *g)
{
	return false;
}
