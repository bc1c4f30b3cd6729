/*
 * jstrobe stop and dump: the result of a session that `start` began. It goes
 * to -f; without it where `start -f` said, else to stdout.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/compose.h"
#include "cli/replace.h"
#include "cli/report.h"
#include "cli/result.h"
#include "cli/talk/agent.h"
#include "cli/talk/apart.h"

/* What the agent is to write: as asked now, else as asked at the start. */
static void choose_format(struct options *o, const char *status)
{
	char format[sizeof(o->format)];

	if (!o->format[0] && !o->file[0] &&
	    control_value(status, "format", format, sizeof(format)) && format[0])
		strcpy(o->format, format);
}

/* Where the result went: OWED, or, if a round of a loop ended since that was said, its successor. */
static void take_place(const char *answer, char *owed, size_t size)
{
	char place[2400];

	if (owed[0] && control_value(answer, "result", place, sizeof(place)) && place[0])
		snprintf(owed, size, "%s", place);
}

/* Of a session that has ended a stop takes the result only where it says what for. */
static bool comes_too_late(const struct options *o, const char *status)
{
	return o->action == ACTION_STOP && !o->file[0] && !o->format[0] && !control_number(status, "running");
}

/*
 * The result of the session. TAKEN gets the name of the file it would go to and must not, and nothing is done: of one
 * that the session writes itself that cannot be said.
 */
static int fetch(struct cli *cli, struct agent *agent, char taken[PATH_MAX], struct error *err)
{
	struct options *o = &cli->options, asked;
	char owed[2400] = "";
	struct result result = RESULT_INIT;
	bool elsewhere = false;
	int rc = agent_command(agent, "status", 60000, err);

	if (rc)
		return rc;
	control_value(agent->talk.status, "owed", owed, sizeof(owed));
	if (control_number(agent->talk.status, "owner"))
		owed[0] = '\0';
	if (control_number(agent->talk.status, "recording") && owed[0]) {
		/* what is asked for is there already, and grows: it must not be replaced by a copy of itself */
		if (result_is(o, (int)agent->target.pid, owed))
			o->file[0] = '\0';
		else if (!o->file[0] && o->format[0] && strcmp(o->format, "jfr") != 0)
			elsewhere = true;
	}
	if ((o->file[0] || !owed[0] || elsewhere) && !comes_too_late(o, agent->talk.status)) {
		choose_format(o, agent->talk.status);
		rc = result_find(&result, o, (int)agent->target.pid, "hot", false, err);
		if (rc == 0 && replace_is_needed(&result.place, o) &&
		    !(owed[0] && result_is(o, (int)agent->target.pid, owed))) {
			strcpy(taken, result.file);
			result_drop(&result);
			return -EEXIST;
		}
		if (rc == 0)
			rc = compose_of_session(&result, agent, o, err);
		if (rc == 0)
			rc = result_open(&result, target_is_apart(&agent->target), err);
		if (rc == 0)
			rc = agent_send_file(agent, result.given, result.file, err);
		o->color = result_colour(&result);
	}
	if (rc == 0)
		report_pause(o);
	asked = *o;
	if (result.packed)
		compose_ask(&asked, o);
	if (rc == 0)
		rc = agent_obey(agent, &asked, AGENT_ANSWER_MS, err);
	if (rc == 0)
		take_place(agent->talk.answer, owed, sizeof(owed));
	if (rc == 0 && owed[0] && o->action == ACTION_STOP && target_is_apart(&agent->target))
		rc = given_take_back(owed, o, agent->wake, err);
	if (rc == 0)
		rc = report_result(agent, o, result.fd >= 0 ? &result : NULL, owed, err);
	result_drop(&result);
	return rc;
}

/* Ask the agent; an exit code. */
static int talk(struct cli *cli, char taken[PATH_MAX])
{
	struct agent agent;
	struct error err = {0};
	int rc = agent_open(&agent, cli, true, &err);

	if (rc == CLI_FAILED)
		console_error("%s", err.text);
	if (rc)
		return rc;
	rc = fetch(cli, &agent, taken, &err);
	if (rc && !taken[0])
		console_error("%s", err.text);
	else if (rc == 0)
		agent_hint_copies(&agent);
	agent_close(&agent);
	return cli_exit_code(rc);
}

static int run(struct cli *cli, enum options_action action)
{
	char taken[PATH_MAX] = "";
	struct error err = {0};
	int rc;

	cli->options.action = action;
	if (result_check_name(&cli->options, &err)) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	rc = talk(cli, taken);
	if (!taken[0])
		return rc;
	/* while someone thinks about it, the agent does not wait */
	rc = replace_ask(taken, &cli->options, &err);
	if (rc) {
		console_error("%s", err.text);
		return replace_exit_code(rc);
	}
	taken[0] = '\0';
	cli->options.overwrite = true;
	return talk(cli, taken);
}

int cli_stop(struct cli *cli)
{
	return run(cli, ACTION_STOP);
}

int cli_dump(struct cli *cli)
{
	return run(cli, ACTION_DUMP);
}
