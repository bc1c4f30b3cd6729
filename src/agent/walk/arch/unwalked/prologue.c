/*
 * prologue.c (unwalked) - for CPUs whose Java frames jstrobe does not know yet.
 *
 * The JVM is asked for its frames there (walk_agct.c), so the walker never comes here; what other CPUs'
 * folders define is there only for the linker.
 */
#include "agent/walk/walk.h"

bool frame_prologue(const struct layout *l, const struct blob *b, uintptr_t pc, struct frame_state *e)
{
	return false;
}

bool code_unwind(const struct walk *w, const struct blob *b, const struct stub *stub, bool away,
		   struct code_unwind *out)
{
	return false;
}

/* Of use where native code has no unwind table: known code is known code. */
bool follows_call(uintptr_t pc)
{
	return true;
}

bool interpreted_prologue(struct walk *w, enum step *step)
{
	return false;
}

enum step walk_stub(struct walk *w, const struct blob *b)
{
	w->end = END_bad_stub;
	return STEP_END;
}
