/*
 * agent_inner.h - what agent.c and agent_attach.c share. Inner header of these two.
 */
#ifndef JSTROBE_CLI_AGENT_INNER_H
#define JSTROBE_CLI_AGENT_INNER_H

#include "cli/agent.h"

#define LIBRARY "libjstrobe.so"
#define SEND_MS 5000

/* Take the socket away on which the agent was waited for. */
void agent_stop_listening(struct agent *a);
/* Whether the JVM's process is gone within half a second. */
bool agent_soon_gone(const struct agent *a);
/* The connection broke: -ECONNRESET, ERR says whose. */
int agent_hung_up(const struct agent *a, struct error *err);

#endif
