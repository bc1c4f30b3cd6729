/*
 * served_reads.h - reads that wait for a client's next request, where the session recorded them. Inner header of the
 * model room.
 */
#ifndef JSTROBE_MODEL_SERVED_READS_H
#define JSTROBE_MODEL_SERVED_READS_H

#include "profile/model/profile.h"

/*
 * Of P, whose stacks have ACTIVITIES: NETWORK becomes IDLE in reads of connections that clients have opened, by the
 * event io of the same session; ANSWERS[i]: stack number i reads what was asked for. False: no memory. Normal code.
 */
bool served_reads_idle(const struct profile *p, uint8_t *activities, bool *answers);

#endif
