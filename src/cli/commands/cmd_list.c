/*
 * jstrobe list: the events that can be sampled, in a JVM or at all.
 */
#include <stdio.h>

#include "cli/answers.h"
#include "cli/cli.h"
#include "cli/talk/agent.h"
#include "common/os/os.h"

/* All events, whatever a JVM permits. */
static int list_all(const struct cli *cli)
{
	struct buffer out = BUFFER_INIT;
	char note[400] = "";
	int rc = os_perf_probe();

	if (rc)
		snprintf(note, sizeof(note), "cpu: for you: %s; CPU timers are used instead, without kernel frames",
			 os_perf_refusal(rc));
	if (cli->options.format[0]) {
		answers_events(note, &out);
		return cli_print(&out);
	}
	options_events(&out);
	if (rc)
		console_note("%s", note);
	return cli_print(&out);
}

int cli_list(struct cli *cli)
{
	struct error err;

	if (cli_check_json(cli, &err)) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	if (cli->word_count == 0)
		return list_all(cli);
	return cli->options.format[0] ? agent_ask_json(cli, "list", answers_list) : agent_ask(cli, "list", NULL);
}
