/*
 * jstrobe list: the events that can be sampled, in a JVM or at all.
 */
#include <stdio.h>

#include "cli/agent.h"
#include "cli/cli.h"

int cli_list(struct cli *cli)
{
	struct buffer out = BUFFER_INIT;

	if (cli->word_count == 0) {
		options_events(&out);
		return cli_print(&out);
	}
	return agent_ask(cli, "list");
}
