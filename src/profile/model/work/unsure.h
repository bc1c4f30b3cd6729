/*
 * unsure.h - idle waits that may be for an answer instead.
 *
 * A thread of the program that calls Object.wait, Condition.await or park itself, or receives a datagram, may wait for
 * its next work, or for what it has asked another thread or a peer for: stacks look alike. Such waits count as idle by
 * the rules of activity.c; what is said of them has to leave both open. `main`, queues, pools and selectors are surer.
 */
#ifndef JSTROBE_MODEL_UNSURE_H
#define JSTROBE_MODEL_UNSURE_H

#include "profile/model/profile.h"

/* Whether S of P, whose wait counts as idle, may be one for an answer. Normal code. */
bool idle_is_unsure(const struct profile *p, const struct profile_stack *s);

#endif
