/*
 * unread.c (not x86) - what is read of x86's code only. Elsewhere the next described place counts for a pc; stacks end
 * in frames of methods that take value objects (JDK 28); and the JVM's tables say where a continuation's entry is, or
 * nothing does.
 */
#include "agent/walk/guards.h"
#include "agent/walk/walk.h"

bool guards_find(const struct layout *l, const struct blob *b, const struct debug_info *d, uintptr_t pc, bool is_return,
		 struct guarded *g)
{
	return false;
}

uint32_t frame_own_size(const struct layout *l, const struct blob *b)
{
	return 0;
}

bool stub_thread_field(uintptr_t start, uint32_t *field)
{
	return false;
}
