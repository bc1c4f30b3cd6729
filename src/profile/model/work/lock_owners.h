/*
 * lock_owners.h - who waits with a lock that others wait for, where the session recorded these waits. Inner header of
 * the model room.
 */
#ifndef JSTROBE_MODEL_LOCK_OWNERS_H
#define JSTROBE_MODEL_LOCK_OWNERS_H

#include "profile/model/profile.h"

/*
 * Of P, whose stacks have ACTIVITIES: IDLE becomes sleep, park or native where the thread had a lock that others waited
 * for, by the event lock of the same session. False: no memory. Normal code.
 */
bool lock_owners_work(const struct profile *p, uint8_t *activities);

#endif
