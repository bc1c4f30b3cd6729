/*
 * jstrobe start and resume: sampling that outlives the command. The result is
 * fetched by stop or dump; with -f the agent itself writes it there at stop or
 * when the JVM ends.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/agent.h"
#include "cli/cli.h"
#include "cli/result.h"

static int begin(struct cli *cli, struct agent *agent, struct error *err)
{
	struct options *o = &cli->options;
	char name[NAME_MAX + 1];
	int folder = -1, rc = 0;

	if (o->file[0]) {
		folder = result_folder(o, (int)agent->target.pid, name, err);
		if (folder < 0)
			return folder;
		rc = agent_send_folder(agent, folder, name, err);
		close(folder);
	}
	return rc ? rc : agent_obey(agent, o, 120000, err);
}

static int run(struct cli *cli, enum options_action action)
{
	struct agent agent;
	struct error err = {0};
	char engine[64] = "";
	int rc;

	cli->options.action = action;
	if (cli->options.file[0] && options_check_file(cli->options.file, &err) &&
	    !cli->options.format[0]) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	if (cli->program) {
		console_error("%s: a program can only be started by record", cli->command);
		return CLI_USAGE;
	}
	if (cli->options.duration)
		console_note("%s: -d is for record; this session runs until 'jstrobe stop'",
			     cli->command);
	rc = agent_open(&agent, cli, false, &err);
	if (rc)
		return rc;
	rc = begin(cli, &agent, &err);
	if (rc)
		console_error("%s", err.text);
	else if (cli->options.instrument[0])
		console_note("counting calls in process %d; 'jstrobe stop %d' ends it", (int)agent.target.pid,
			     (int)agent.target.pid);
	else if (control_value(agent.answer, "engine", engine, sizeof(engine)))
		console_note("sampling %s in process %d by %s; 'jstrobe stop %d' ends it",
			     cli->options.event, (int)agent.target.pid, engine,
			     (int)agent.target.pid);
	agent_close(&agent);
	if (rc == -EINTR)
		return CLI_ABORTED;
	return rc ? CLI_FAILED : CLI_DONE;
}

int cli_start(struct cli *cli)
{
	return run(cli, ACTION_START);
}

int cli_resume(struct cli *cli)
{
	return run(cli, ACTION_RESUME);
}
