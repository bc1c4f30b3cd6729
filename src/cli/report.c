/*
 * What follows a session: the file gets its name, the losses are told to those
 * who would not see them in it.
 */
#include "cli/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* Formats that people read and that carry the loss line themselves. */
static bool tells_losses(const char *format)
{
	static const char *const words[] = {"hot", "text", "flat", "traces", "calltree", "loss"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(format, words[i]) == 0)
			return true;
	return false;
}

int report_result(struct agent *agent, const struct options *o, struct result *result,
		  const char *owed, struct error *err)
{
	bool on_stdout = result && !result->file[0];
	bool empty = control_number(agent->talk.answer, "taken") == 0;
	char file[PATH_MAX + 8], loss[1024] = "";
	int rc = 0;

	snprintf(file, sizeof(file), "%s", result ? result->file : owed);
	if (result)
		rc = result_keep(result, agent->wake, err);
	if (rc)
		return rc;
	control_value(agent->talk.answer, "loss", loss, sizeof(loss));
	/* a reader of the text sees the line there; everybody else gets it here */
	if (loss[0] && !(on_stdout && tells_losses(o->format)) &&
	    (empty || strcmp(o->format, "collapsed") == 0 || strcmp(o->format, "folded") == 0))
		console_note("%s", loss);
	else if (loss[0] && !on_stdout)
		console_hint("%s", loss);
	if (file[0])
		console_hint("result: %s", file);
	return 0;
}
