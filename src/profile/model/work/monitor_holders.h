/*
 * monitor_holders.h - who waits with a monitor that others wait for. Inner header of the model room.
 */
#ifndef JSTROBE_MODEL_MONITOR_HOLDERS_H
#define JSTROBE_MODEL_MONITOR_HOLDERS_H

#include "profile/model/profile.h"

/*
 * Of P, whose stacks have ACTIVITIES: IDLE becomes sleep, park or native where the thread most likely has a monitor
 * that others wait for. False: no memory. Normal code.
 */
bool monitor_holders_work(const struct profile *p, uint8_t *activities);

#endif
