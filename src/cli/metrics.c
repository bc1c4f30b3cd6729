/*
 * jstrobe metrics: the profiler's own counters as Prometheus reads them, from the agent's conversation; nothing
 * listens in the JVM. A JVM that was never profiled is left alone.
 */
#include <errno.h>
#include <stdio.h>

#include "cli/agent.h"
#include "cli/cli.h"

int cli_metrics(struct cli *cli)
{
	struct agent agent;
	struct error err = {0};
	int rc = agent_open(&agent, cli, true, &err);

	if (rc == CLI_FAILED && err.code == ENOENT) {
		puts("# HELP jstrobe_session_running Whether a session runs.\n# TYPE jstrobe_session_running gauge\n"
		     "jstrobe_session_running 0");
		return CLI_DONE;
	}
	if (rc)
		return rc;
	rc = agent_command(&agent, "metrics", 60000, &err);
	if (rc)
		console_error("%s", err.text);
	else
		cli_print(&agent.text);
	agent_close(&agent);
	return rc ? CLI_FAILED : CLI_DONE;
}
