/*
 * jstrobe list: the events that can be sampled, in a JVM or at all.
 */
#include <stdio.h>

#include "cli/agent.h"
#include "cli/cli.h"

int cli_list(struct cli *cli)
{
	struct buffer out = BUFFER_INIT;
	struct agent agent;
	struct error err;
	int rc;

	if (cli->word_count == 0) {
		options_events(&out);
		return cli_print(&out);
	}
	rc = agent_open(&agent, cli, false, &err);
	if (rc)
		return rc;
	rc = agent_command(&agent, "list", 60000, &err);
	if (rc)
		console_error("%s", err.text);
	else
		cli_print(&agent.text);
	agent_close(&agent);
	return rc ? CLI_FAILED : CLI_DONE;
}
