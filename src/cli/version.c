/*
 * jstrobe version: the command's, or that of the agent in a JVM.
 */
#include <stdio.h>

#include "cli/agent.h"
#include "cli/cli.h"

int cli_version(struct cli *cli)
{
	struct agent agent;
	struct error err;
	int rc;

	if (cli->word_count == 0) {
		/* launcher style: the bare number */
		printf("%s%s\n", cli->options.want_version ? "" : "jstrobe ", JSTROBE_VERSION);
		return CLI_DONE;
	}
	rc = agent_open(&agent, cli, false, &err);
	if (rc)
		return rc;
	rc = agent_command(&agent, "version", 60000, &err);
	if (rc)
		console_error("%s", err.text);
	else
		cli_print(&agent.text);
	agent_close(&agent);
	return rc ? CLI_FAILED : CLI_DONE;
}
