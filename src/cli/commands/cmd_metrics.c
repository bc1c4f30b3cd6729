/*
 * jstrobe metrics: the profiler's own counters as Prometheus reads them, from the agent's conversation; nothing
 * listens in the JVM. A JVM that was never profiled is left alone.
 */
#include "cli/cli.h"
#include "cli/talk/agent.h"

int cli_metrics(struct cli *cli)
{
	return agent_ask(cli, "metrics",
			 "# HELP jstrobe_session_running Whether a session runs.\n"
			 "# TYPE jstrobe_session_running gauge\n"
			 "jstrobe_session_running 0");
}
