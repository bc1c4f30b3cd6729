/*
 * awaited.h - who sleeps while others wait for the result of its task, or for it to come. Inner header of the model
 * room.
 */
#ifndef JSTROBE_MODEL_AWAITED_H
#define JSTROBE_MODEL_AWAITED_H

#include "profile/model/profile.h"

/*
 * Of P, whose stacks have ACTIVITIES: IDLE becomes SLEEP where others most likely wait for that thread. False: no
 * memory. Normal code.
 */
bool awaited_work(const struct profile *p, uint8_t *activities);

#endif
