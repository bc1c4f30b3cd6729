/*
 * jstrobe version: the command's, or that of the agent in a JVM.
 */
#include "cli/agent.h"
#include "cli/cli.h"

int cli_version(struct cli *cli)
{
	if (cli->word_count == 0) {
		/* launcher style: the bare number */
		console_out("%s%s", cli->options.want_version ? "" : "jstrobe ", JSTROBE_VERSION);
		return CLI_DONE;
	}
	return agent_ask(cli, "version", NULL);
}
