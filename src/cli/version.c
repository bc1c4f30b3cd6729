/*
 * jstrobe version: the command's, or that of the agent in a JVM.
 */
#include <stdio.h>

#include "cli/agent.h"
#include "cli/cli.h"

int cli_version(struct cli *cli)
{
	if (cli->word_count == 0) {
		/* launcher style: the bare number */
		printf("%s%s\n", cli->options.want_version ? "" : "jstrobe ", JSTROBE_VERSION);
		return CLI_DONE;
	}
	return agent_ask(cli, "version", NULL);
}
