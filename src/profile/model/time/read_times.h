/*
 * read_times.h - when samples were taken, as an agent says it (times.h), becomes moments. Normal code.
 */
#ifndef JSTROBE_MODEL_READ_TIMES_H
#define JSTROBE_MODEL_READ_TIMES_H

#include "profile/model/profile.h"

/*
 * The moments of P from its times, which may come from a hostile program, MOST of them (0: any number); P gets them,
 * and *MOMENTS is to be freed after it. 0, -ENOMEM, or -EPROTO: no agent writes that.
 */
int read_times(struct profile *p, size_t most, struct profile_moment **moments);

#endif
