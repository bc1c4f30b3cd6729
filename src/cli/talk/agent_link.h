/*
 * agent_link.h - what the files agent*.c share. Inner header of these.
 */
#ifndef JSTROBE_CLI_AGENT_LINK_H
#define JSTROBE_CLI_AGENT_LINK_H

#include "cli/talk/agent.h"

#define LIBRARY "libjstrobe.so"
#define SEND_MS 5000
#define AGENT_BYTES (16 * 1024) /* read at a time: signals are looked for in between */

/* Whether LIBRARY, a path in the target, is what this command loads. */
bool agent_is_ours(const struct options *o, const char *library);
/* Take the socket away on which the agent was waited for. */
void agent_stop_listening(struct agent *a);
/* Free what agent_greet remembers. */
void agent_forget_guests(struct agent *a);
/* Whether the JVM's process is gone within half a second. */
bool agent_soon_gone(const struct agent *a);
/* The connection broke: -ECONNRESET, ERR says whose. */
int agent_hung_up(const struct agent *a, struct error *err);

#endif
