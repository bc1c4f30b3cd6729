/*
 * compose.h - results that the command makes itself: the agent packs the profile (profile/model/packed.h), and tables,
 * pages and findings are made of it here. That costs the program nothing, and may know what only the outside sees.
 *
 * Recordings and traces of calls are the agent's own work, as is all of an agent of another version.
 */
#ifndef JSTROBE_CLI_COMPOSE_H
#define JSTROBE_CLI_COMPOSE_H

#include "cli/result.h"
#include "cli/talk/agent.h"
#include "profile/writers/format.h"

/* Whether the result that O asks of AGENT is made here. Before result_open. */
bool compose_is_ours(const struct agent *agent, const struct options *o);
/*
 * Of a session that AGENT has: what it cannot write, or not as well, is made here, so R->packed is set. -ENOTSUP if
 * what it cannot write cannot be made here either. Before result_open, and behind agent_command(agent, "status").
 */
int compose_of_session(struct result *r, const struct agent *agent, const struct options *o, struct error *err);
/* What the agent is to be told in place of O, in which the result is described for people. */
void compose_ask(struct options *asked, const struct options *o);
/*
 * Make the result that O describes of what the agent has packed into R, in its place; TOLD is filled in. 0 or a
 * negative errno with the reason.
 */
int compose(struct result *r, const struct options *o, struct format_told *told, struct error *err);

#endif
