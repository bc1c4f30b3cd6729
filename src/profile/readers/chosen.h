/*
 * chosen.h - which threads and states --filter and --state want. Pure functions.
 */
#ifndef JSTROBE_READERS_CHOSEN_H
#define JSTROBE_READERS_CHOSEN_H

#include "common/base/base.h"

/* Whether LIST, "runnable,s", has STATE as recordings spell it, "STATE_RUNNABLE" or without that begin. */
bool chosen_state(const char *list, const char *state);
/* Whether LIST, "120-127;name:http-*", has the thread TID called NAME. */
bool chosen_thread(const char *list, uint32_t tid, const char *name);

#endif
