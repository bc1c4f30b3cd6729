/*
 * jstrobe start and resume: sampling that outlives the command. The result is
 * fetched by stop or dump; with -f the agent itself writes it there at stop or
 * when the JVM ends.
 *
 * The target gets no folder. Where its user can make the file itself, at the same path, it gets the path, and does
 * so with its own rights. Else it gets one new file that can only be written to, which has its name from the start.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/replace.h"
#include "cli/result.h"
#include "cli/talk/agent.h"
#include "cli/talk/apart.h"

/* Where the file's name begins. */
static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* FILE from / on, with NAME as its last word; FOLDER gets the rest. */
static int whole_path(const char *file, const char *name, char path[OPTIONS_FILE_MAX],
		      char folder[PATH_MAX], struct error *err)
{
	char here[PATH_MAX] = "";
	int n, length = (int)(base_of(file) - file);

	if (file[0] != '/' && !getcwd(here, sizeof(here)))
		return error_set(err, errno, "-f %s: the current folder: %s; name the file from / on", file,
				 error_text(errno));
	n = snprintf(folder, PATH_MAX, "%s%s%.*s", here, here[0] ? "/" : "", length, file);
	if (n < PATH_MAX && snprintf(path, OPTIONS_FILE_MAX, "%s%s", folder, name) < OPTIONS_FILE_MAX)
		return 0;
	return error_set(err, ENAMETOOLONG, "-f %s: the name is too long", file);
}

/* The agent makes the file, or each round's, itself. */
static int leave_to_agent(struct agent *agent, const char *path, bool theirs, struct error *err)
{
	int rc = agent_send_place(agent, path, err);

	if (rc == 0 && !theirs)
		console_note("results go to %s in the file system of process %d, from here /proc/%d/root%s", path,
			     (int)agent->target.pid, (int)agent->target.pid, path);
	return rc;
}

/* It gets a file of ours, and says at the end that the result is in PATH. */
static int give_file(struct agent *agent, const struct options *o, struct result *r, const char *path,
		     struct error *err)
{
	int rc = target_may_have_file_in(&agent->target, &r->place, r->file, err);

	if (rc)
		return rc;
	if (o->action == ACTION_RESUME && r->place.type)
		return error_set(err, EEXIST, "-f %s: there is a file, which process %d, elsewhere or of another user, "
				 "is not given; name one that is not there yet", r->file, (int)agent->target.pid);
	rc = result_open(r, false, err);
	if (rc == 0 && target_is_apart(&agent->target))
		given_mark(r->fd);
	return rc ? rc : agent_send_file(agent, r->given, path, err);
}

/* Where the result goes, before the session begins. */
static int name_place(struct agent *agent, struct options *o, struct result *r, struct error *err)
{
	char path[OPTIONS_FILE_MAX], folder[PATH_MAX];
	bool theirs;
	int rc = result_find(r, o, (int)agent->target.pid, "", false, err);

	if (rc)
		return rc;
	if (r->place.kind != OUTPUT_FILE)
		return error_set(err, EISDIR, "-f %s: this is no place for a file", o->file);
	/* each round of a loop has a name of its own, made by the agent */
	rc = whole_path(r->file, base_of(o->loop[0] ? o->file : r->file), path, folder, err);
	if (rc)
		return rc;
	theirs = target_writes_to(&agent->target, folder, r->place.folder);
	if (theirs || o->loop[0])
		return leave_to_agent(agent, path, theirs, err);
	return give_file(agent, o, r, path, err);
}

static int begin(struct cli *cli, struct agent *agent, struct result *r, struct error *err)
{
	struct options *o = &cli->options;
	struct error ignored;
	int rc = o->file[0] ? name_place(agent, o, r, err) : 0;

	if (rc == 0)
		rc = agent_obey(agent, o, 120000, err);
	/* what is there already stays until the session has begun */
	if (rc == 0 && r->given >= 0) {
		rc = output_publish(&r->place, false, err);
		if (rc)
			agent_command(agent, "stop", 60000, &ignored);
	}
	return rc;
}

static int run(struct cli *cli, enum options_action action)
{
	struct result result = RESULT_INIT;
	struct agent agent;
	struct error err = {0};
	char engine[64] = "";
	int rc;

	cli->options.action = action;
	if (result_check_name(&cli->options, &err)) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	if (action == ACTION_START && options_check_beside(&cli->options, &err)) {
		console_error("%s: %s", cli->command, err.text);
		return CLI_USAGE;
	}
	if (cli->program) {
		console_error("%s: a program can only be started by record", cli->command);
		return CLI_USAGE;
	}
	if (cli->options.duration && (cli->options.loop[0] || cli->options.timeout[0])) {
		console_error("%s: -d and --%s do not go together: the session runs %s; leave -d out", cli->command,
			      cli->options.loop[0] ? "loop" : "timeout", cli->options.loop[0] ?
			      "until 'jstrobe stop', with a result each time" : "as long as --timeout says");
		return CLI_USAGE;
	}
	if (cli->options.duration)
		console_note("%s: -d is for record; this session runs until 'jstrobe stop'",
			     cli->command);
	rc = replace_check_first(cli, &err);
	if (rc) {
		console_error("%s", err.text);
		return replace_exit_code(rc);
	}
	rc = agent_open(&agent, cli, false, &err);
	if (rc)
		return rc;
	rc = begin(cli, &agent, &result, &err);
	if (rc)
		console_error("%s", err.text);
	else if (cli->options.instrument[0])
		console_note("counting calls in process %d; 'jstrobe stop %d' ends it", (int)agent.target.pid,
			     (int)agent.target.pid);
	else if (control_value(agent.talk.answer, "engine", engine, sizeof(engine)))
		console_note("sampling %s in process %d by %s; 'jstrobe stop %d' ends it",
			     cli->options.event, (int)agent.target.pid, engine,
			     (int)agent.target.pid);
	if (rc == 0 && cli->options.roots)
		console_note("roots: at each result the program will stand still while references are followed");
	agent_close(&agent);
	result_drop(&result);
	return cli_exit_code(rc);
}

int cli_start(struct cli *cli)
{
	return run(cli, ACTION_START);
}

int cli_resume(struct cli *cli)
{
	return run(cli, ACTION_RESUME);
}
