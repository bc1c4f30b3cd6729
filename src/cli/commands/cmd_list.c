/*
 * jstrobe list: the events that can be sampled, in a JVM or at all.
 */
#include <stdio.h>

#include "cli/agent.h"
#include "cli/cli.h"
#include "common/os/os.h"

int cli_list(struct cli *cli)
{
	struct buffer out = BUFFER_INIT;

	int rc;

	if (cli->word_count == 0) {
		options_events(&out);
		rc = os_perf_probe();
		if (rc)
			console_note("cpu: for you: %s; CPU timers are used instead, without kernel frames",
				     os_perf_refusal(rc));
		return cli_print(&out);
	}
	return agent_ask(cli, "list", NULL);
}
