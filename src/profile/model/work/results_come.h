/*
 * results_come.h - who waits for a result, a process or a thread that comes to an end meanwhile. Inner header of the
 * model room.
 */
#ifndef JSTROBE_MODEL_RESULTS_COME_H
#define JSTROBE_MODEL_RESULTS_COME_H

#include "profile/model/profile.h"

/*
 * Of P, whose stacks have ACTIVITIES: IDLE becomes what the thread's state says where it waited for something that came
 * most likely. False: no memory. Normal code.
 */
bool results_come(const struct profile *p, uint8_t *activities);

#endif
