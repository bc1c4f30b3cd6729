/*
 * jstrobe diff: two files that hold profiles (results in JSON, collapsed stacks, recordings) side by side.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/memory/resident.h"
#include "cli/reading.h"
#include "cli/replace.h"
#include "cli/result.h"
#include "common/base/ascii.h"
#include "profile/model/lasting_names.h"
#include "profile/readers/readers.h"
#include "profile/writers/diff.h"

#define HOT_METHODS 30 /* on the terminal */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What can be written; others have no place for two values. */
static int check_format(const char *name, struct error *err)
{
	static const char *const known[] = {"flamegraph", "html", "json", "text", "flat", "hot", "collapsed"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(name, known[i]) == 0)
			return 0;
	return error_set(err, EINVAL, "diff: a difference is written as text, json, html or collapsed, not as %s",
			 name);
}

static void write_diff(const struct diff *d, const struct options *o, const struct result *result, struct buffer *out)
{
	struct format_options options = reading_shape(o, false);
	bool terminal = strcmp(o->format, "hot") == 0;
	char title[256];

	snprintf(title, sizeof(title), "Difference: %.80s to %.80s", d->before_name, d->after_name);
	if (strcmp(o->format, "json") == 0)
		diff_json(d, out);
	else if (strcmp(o->format, "collapsed") == 0)
		diff_collapsed(d, &options, out);
	else if (strcmp(o->format, "flamegraph") == 0 || strcmp(o->format, "html") == 0)
		diff_page(d, o->title[0] ? o->title : title, &options, out);
	else
		diff_text(d, &options, o->flat ? o->flat : terminal && !result->file[0] ? HOT_METHODS : 0, out);
}

/* A number above 0 at *AT, which moves behind it. */
static bool read_units(const char **at, double *units)
{
	const char *p = *at;
	double place = 1;

	for (*units = 0; ascii_is_digit(*p); p++)
		*units = *units * 10 + (*p - '0');
	if (*p == '.')
		for (p++; ascii_is_digit(*p); p++)
			*units += (*p - '0') * (place /= 10);
	*at = p;
	return *units > 0;
}

/* [WHAT=]N[,N] of --per. */
static int read_per(const char *text, char what[], struct diff *d, struct error *err)
{
	const char *equals = strchr(text, '='), *at = equals ? equals + 1 : text;
	bool ok;

	if (!text[0])
		return 0;
	strcpy(what, text);
	what[equals ? equals - text : 0] = '\0';
	d->per_what = what;
	ok = read_units(&at, &d->per[0]);
	d->per[1] = d->per[0];
	if (ok && *at == ',') {
		at++;
		ok = read_units(&at, &d->per[1]);
	}
	if (ok && !*at)
		return 0;
	return error_set(err, EINVAL, "--per %s: how many units of work has each run done? Numbers above 0, as in "
			 "--per requests=1200,1300", text);
}

static void note_what_is_compared(const struct diff *d)
{
	bool unknown = diff_is_unknown(d->before);

	if (unknown != diff_is_unknown(d->after))
		console_note("%s does not say what its numbers count; they are compared with the samples of %s, "
			     "and mean nothing if they are ns or bytes (--total)",
			     unknown ? d->before_name : d->after_name, unknown ? d->after_name : d->before_name);
	if (strcmp(d->before->event, d->after->event) != 0 && d->by_weight)
		console_note("%s is of %s, %s of %s: they may not be the same thing", d->before_name, d->before->event,
			     d->after_name, d->after->event);
}

static int write_result(const struct diff *d, const struct options *o, const struct result *result, uint64_t most,
			struct error *err)
{
	struct buffer out;
	int rc;

	buffer_init(&out, result->fd);
	out.most = most;
	write_diff(d, o, result, &out);
	rc = buffer_flush(&out);
	buffer_free(&out);
	return rc ? reading_write_failed(rc, most, err) : 0;
}

static int compare(struct cli *cli, struct conversion *const read[2], const struct result *result,
		   struct error *err)
{
	const struct options *o = &cli->options;
	struct diff d = {.before_name = base_name(cli->words[0]), .after_name = base_name(cli->words[1]),
			 .per_what = ""};
	struct lasting_names names[2] = {{.frames = NULL}, {.frames = NULL}};
	const struct profile **sides[2] = {&d.before, &d.after};
	char what[sizeof(o->per)];
	uint32_t count;
	int rc = 0, i;

	for (i = 0; i < 2; i++)
		*sides[i] = convert_profiles(read[i], &count)[0];
	rc = diff_unit(&d, o->samples, err);
	if (rc == 0)
		rc = read_per(o->per, what, &d, err);
	for (i = 0; i < 2 && rc == 0 && !o->no_norm; i++) {
		if (lasting_names_build(&names[i], *sides[i]))
			rc = error_set(err, ENOMEM, "out of memory");
		*sides[i] = &names[i].profile;
	}
	if (rc == 0)
		note_what_is_compared(&d);
	if (rc == 0)
		rc = write_result(&d, o, result, readers_most_bytes(read[0]) + readers_most_bytes(read[1]), err);
	lasting_names_free(&names[0]);
	lasting_names_free(&names[1]);
	return rc;
}

static int diff(struct cli *cli, struct error *err)
{
	struct options *o = &cli->options;
	struct conversion *read[2] = {NULL, NULL};
	struct result result = RESULT_INIT;
	int rc = result_find(&result, o, 0, "hot", false, err), i;

	o->by_block = true;
	if (rc == 0)
		rc = check_format(o->format, err);
	if (rc == 0)
		rc = replace_check(&result.place, result.file, o, err);
	for (i = 0; i < 2 && rc == 0; i++) {
		reading_begin(cli->words[i]);
		rc = readers_read(cli->words[i], o, true, &read[i], err);
		/* parts of two files are not compared */
		if (reading_end())
			rc = error_set(err, EINTR, "interrupted; there is no result");
	}
	if (rc == 0)
		rc = result_open(&result, false, err);
	if (rc == 0)
		rc = compare(cli, read, &result, err);
	if (rc == 0)
		rc = result_keep(&result, -1, err);
	for (i = 0; i < 2; i++) {
		if (!read[i])
			continue;
		if (rc == 0)
			reading_notes(readers_notes(read[i]));
		readers_free(read[i]);
	}
	result_drop(&result);
	return rc;
}

static int check_words(struct cli *cli, struct error *err)
{
	struct options *o = &cli->options;
	int i, rc = 0;

	if (cli->word_count < 2 || cli->word_count > 3 || (cli->word_count == 3 && o->file[0]) || cli->program)
		return error_set(err, EINVAL, "diff: which two files? jstrobe diff before.json after.json [diff.html]");
	if (o->threads)
		return error_set(err, EINVAL, "diff: threads of two runs are different threads; leave out -t");
	if (cli->word_count == 3 && strlen(cli->words[2]) >= sizeof(o->file))
		return error_set(err, ENAMETOOLONG, "diff: the name of the result is too long");
	if (cli->word_count == 3)
		strcpy(o->file, cli->words[2]);
	for (i = 0; i < 2 && rc == 0; i++)
		rc = reading_check_places("diff", cli->words[i], o, err);
	return rc;
}

/* Two readings of `jstrobe memory`; -1: they are none. */
static int diff_memory(struct cli *cli)
{
	const char *const paths[2] = {cli->words[0], cli->words[1]};
	bool json = strcmp(cli->options.format, "json") == 0;
	struct buffer out = BUFFER_INIT;
	struct error err;

	if (!memory_diff(paths, json, &out, &err)) {
		if (!err.code)
			return -1;
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	if (cli->word_count == 2 && !cli->options.file[0])
		return cli_print(&out);
	console_error("diff: a difference of memory is printed; leave out the file, and redirect it if need be");
	buffer_free(&out);
	return CLI_USAGE;
}

int cli_diff(struct cli *cli)
{
	struct error err;
	int rc = check_words(cli, &err);

	if (rc) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	rc = diff_memory(cli);
	if (rc >= 0)
		return rc;
	reading_guard();
	rc = diff(cli, &err);
	if (rc)
		console_error("%s", err.text);
	return rc == -EINVAL || rc == -EEXIST ? CLI_USAGE : cli_exit_code(rc);
}
