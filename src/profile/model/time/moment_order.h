/*
 * moment_order.h - moments in the order of time, or side by side by what they are of.
 *
 * Pure functions, any thread.
 */
#ifndef JSTROBE_MODEL_MOMENT_ORDER_H
#define JSTROBE_MODEL_MOMENT_ORDER_H

#include "profile/model/profile.h"

/* By their times, then stacks, threads and spans. */
void moment_order_time(struct profile_moment *items, size_t n);
/* By their stacks, then threads, times and spans. */
void moment_order_place(struct profile_moment *items, size_t n);
/* Below 0, 0, above 0: X comes before Y, is equal, comes after it, in the order of moment_order_place(). */
int moment_order_compare_place(const struct profile_moment *x, const struct profile_moment *y);

#endif
