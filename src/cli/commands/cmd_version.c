/*
 * jstrobe version: the command's, or that of the agent in a JVM.
 */
#include "cli/answers.h"
#include "cli/cli.h"
#include "cli/talk/agent.h"
#include "common/base/json_writer.h"

static int own_json(void)
{
	struct buffer out = BUFFER_INIT;
	struct json_writer w = JSON_WRITER(&out, JSON_FILE);

	json_object(&w, NULL);
	json_put_number(&w, "schema", 1);
	json_put_text(&w, "version", JSTROBE_VERSION);
	json_end(&w);
	return cli_print(&out);
}

int cli_version(struct cli *cli)
{
	bool json = cli->options.format[0];
	struct error err;

	if (cli_check_json(cli, &err)) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	if (cli->word_count == 0 && json)
		return own_json();
	if (cli->word_count == 0) {
		/* launcher style: the bare number */
		console_out("%s%s", cli->options.want_version ? "" : "jstrobe ", JSTROBE_VERSION);
		return CLI_DONE;
	}
	return json ? agent_ask_json(cli, "version", answers_version) : agent_ask(cli, "version", NULL);
}
