/*
 * prologue.c (unwalked) - for CPUs whose Java frames jstrobe does not know yet.
 *
 * The JVM is asked for its frames there (walk_agct.c), so the walker never comes here; what other CPUs'
 * folders define is there only for the linker.
 */
#include "agent/walk/walk.h"

bool frame_edge(const struct layout *l, const struct blob *b, uintptr_t pc, struct edge *e)
{
	return false;
}

bool frame_way_out(const struct walk *w, const struct blob *b, const struct stub *stub, bool away,
		   struct way_out *out)
{
	return false;
}

/* Of use where native code has no unwind table: known code is known code. */
bool follows_call(uintptr_t pc)
{
	return true;
}

bool interpreted_edge(struct walk *w, enum step *step)
{
	return false;
}

enum step walk_stub(struct walk *w, const struct blob *b)
{
	w->end = END_bad_stub;
	return STEP_END;
}
