/*
 * What follows a session: the file gets its name, the losses are told to those
 * who would not see them in it.
 */
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/compose.h"
#include "cli/reading.h"
#include "profile/model/human.h"

#define LOSSES_MAX 16 /* events of a session; more are not looked for */

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

/* What happened to the samples: a line an event. MADE: of a result that was made here; NULL: ANSWER says it. */
static void tell_losses(struct format_told *made, const char *answer)
{
	char key[16], loss[1024];
	unsigned i;

	if (made) {
		buffer_putc(&made->losses, '\0');
		reading_notes(made->losses.data);
		return;
	}
	for (i = 0; i < LOSSES_MAX; i++) {
		snprintf(key, sizeof(key), i ? "loss_%u" : "loss", i);
		if (control_value(answer, key, loss, sizeof(loss)))
			console_note("%s", loss);
	}
}

int report_left(const struct options *o, uint64_t left, uint64_t of, struct error *err)
{
	if (left || !of)
		return 0;
	return error_set(err, ENODATA, "%s: nothing is left of %llu samples; names are those of the result without it, "
			 "with * at the begin or end for anything", o->include[0] ? "--include" :
			 o->exclude[0] ? "--exclude" : "what the session's start said of include and exclude",
			 (unsigned long long)of);
}

/*
 * Patterns of methods that met nothing. A result about nothing is a failure, though it is written, of the command that
 * named the patterns; `stop` and `dump` did what they were asked for.
 */
static int check_methods(const struct options *o, const char *answer, struct error *err)
{
	bool asked_only = o->action == ACTION_STOP || o->action == ACTION_DUMP;
	char patterns[1024], said[1200];

	if (!control_value(answer, "unmatched", patterns, sizeof(patterns)))
		return 0;
	snprintf(said, sizeof(said), control_number(answer, "probes") ? "no method matches %s" :
		 "no method of a class that was loaded meanwhile matches %s; write Class, Class.method, package.*, "
		 "package.** or @Annotation", patterns);
	if (!asked_only && !control_number(answer, "probes"))
		return error_set(err, ENODATA, "%s", said);
	console_note("%s", said);
	return 0;
}

static int check_matched(const struct options *o, const char *answer, const struct format_told *made, struct error *err)
{
	char left[32];
	int rc = 0;

	if (made->filtered)
		rc = report_left(o, made->left, made->stored, err);
	else if (control_value(answer, "left", left, sizeof(left)))
		rc = report_left(o, strtoull(left, NULL, 10), control_number(answer, "left_of"), err);
	return rc ? rc : check_methods(o, answer, err);
}

int report_result(struct agent *agent, const struct options *o, struct result *result,
		  const char *owed, struct error *err)
{
	bool on_stdout = result && !result->file[0];
	bool made_here = result && result->packed, in_it;
	bool empty = control_number(agent->talk.answer, "taken") == 0;
	bool collapsed = strcmp(o->format, "collapsed") == 0 || strcmp(o->format, "folded") == 0;
	bool replaces = result && result->replaces;
	struct format_told made = FORMAT_TOLD_INIT;
	char file[PATH_MAX + 8];
	int rc = 0;

	snprintf(file, sizeof(file), "%s", result ? result->file : owed);
	if (made_here)
		rc = compose(result, o, &made, err);
	if (rc == 0 && result)
		rc = result_keep(result, signals_interrupts(), err);
	if (rc)
		goto out;
	/*
	 * Who reads the text sees the line there, and who pipes JSON wants nothing else. Behind a file it is said with
	 * or without a terminal: it belongs into the log of a job.
	 */
	in_it = tells_losses(o->format);
	if (on_stdout ? !in_it && (empty || collapsed) : !in_it || empty)
		tell_losses(made_here ? &made : NULL, agent->talk.answer);
	if (file[0])
		console_note("result: %s%s", file, replaces ? ", in place of the file that was there" : "");
	rc = check_matched(o, agent->talk.answer, &made, err);
out:
	buffer_free(&made.losses);
	return rc;
}

void report_pause(const struct options *o)
{
	if (o->roots)
		console_note("roots: the program stands still while references are followed, for %s at most "
			     "(--roots-pause)", human_time(o->roots_pause ? o->roots_pause : NS_PER_S).text);
}
