/*
 * session_roots.h - by which references what grows is held, for the results of a session. With the session's lock held.
 */
#ifndef JSTROBE_SESSION_SESSION_ROOTS_H
#define JSTROBE_SESSION_SESSION_ROOTS_H

#include <stdint.h>

#include "profile/model/profile.h"

/*
 * Of P, a profile of what is there just now, find it for the MOST fastest; the program stands still for PAUSE ns at
 * most. Also why it cannot be found is kept, for results. Attached.
 */
void session_roots_find(const struct profile *p, uint32_t most, uint64_t pause);
/* P tells what was found last, until session_roots_detach(P), which is due before P is freed. */
void session_roots_attach(struct profile *p);
void session_roots_detach(struct profile *p);
/* Another session begins. */
void session_roots_forget(void);

#endif
