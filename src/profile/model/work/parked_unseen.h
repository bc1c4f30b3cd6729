/*
 * parked_unseen.h - whether a profile of wall time lacks virtual threads while they are parked.
 */
#ifndef JSTROBE_MODEL_PARKED_UNSEEN_H
#define JSTROBE_MODEL_PARKED_UNSEEN_H

#include "profile/model/profile.h"

/* Whether stacks of virtual threads are missing while those are parked. */
enum parked_unseen { PARKED_SEEN, PARKED_UNSEEN, PARKED_MAYBE };

/* Whether some stack of P is of a virtual thread. */
bool virtual_threads_ran(const struct profile *p);
/* Whether P, of wall time, lacks virtual threads while they are parked. */
enum parked_unseen parked_unseen_in(const struct profile *p);
/* … in words, without an end; nothing for PARKED_SEEN. */
static inline const char *parked_unseen_text(enum parked_unseen unseen)
{
	return unseen == PARKED_UNSEEN ? "virtual threads are left out while they are parked" :
	       unseen == PARKED_MAYBE ?
	       "the program may have virtual threads, which are left out while they are parked" : "";
}

#endif
