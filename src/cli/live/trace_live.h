/*
 * trace_live.h - `jstrobe trace --live`: the call tree on the screen, every other second, while calls are counted.
 */
#ifndef JSTROBE_CLI_LIVE_TRACE_LIVE_H
#define JSTROBE_CLI_LIVE_TRACE_LIVE_H

#include "cli/talk/agent.h"

#define TRACE_LIVE_MS 100 /* between two turns: keys are obeyed so soon */

/* Take the screen. NULL: out of memory. */
struct trace_live *trace_live_begin(const struct options *o);
/*
 * Obey keys, and if it is time have A's session dump its tree and show it. 0; -ECANCELED: the user has seen enough;
 * else as agent_obey.
 */
int trace_live_tick(struct trace_live *t, struct agent *a, struct error *err);
/* Give the screen back; NULL is nothing. */
void trace_live_end(struct trace_live *t);

#endif
