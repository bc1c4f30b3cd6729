/*
 * class_inits.h - who waits for another thread that initialises a class. Inner header of the model room.
 */
#ifndef JSTROBE_MODEL_CLASS_INITS_H
#define JSTROBE_MODEL_CLASS_INITS_H

#include "profile/model/profile.h"

/* Of P, whose stacks have ACTIVITIES: HELD becomes LOCK in those threads. False: no memory. Normal code. */
bool class_inits_lock(const struct profile *p, uint8_t *activities);

#endif
