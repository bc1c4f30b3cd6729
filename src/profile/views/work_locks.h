/*
 * work_locks.h - what was waited for each lock besides idle waits.
 */
#ifndef JSTROBE_VIEWS_WORK_LOCKS_H
#define JSTROBE_VIEWS_WORK_LOCKS_H

#include "profile/model/work/work.h"
#include "profile/writers/format.h"

/* The locks of P, whose work is W; free LOCKS->items in any case. 0 or -ENOMEM. */
int work_locks(const struct profile *p, const struct work *w, struct work_locks *locks);

#endif
