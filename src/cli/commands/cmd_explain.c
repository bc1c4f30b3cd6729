/*
 * jstrobe explain: a result as 2 to 4 KB of text, for a ticket or for a language model.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/reading.h"
#include "cli/report.h"
#include "profile/model/filter.h"
#include "profile/readers/readers.h"
#include "profile/views/explanation.h"

/* What the patterns of O leave of PROFILES, in VIEWS. *MADE: how many of them are to be freed. */
static int narrow(const struct profile *const *profiles, uint32_t count, const struct options *o,
		  struct profile *views, const struct profile **shown, uint32_t *made)
{
	struct format_options shape = reading_shape(o, false);
	uint32_t i;

	for (i = 0; i < count; i++) {
		shown[i] = profiles[i];
		if (!filter_is_set(&shape))
			continue;
		if (filter_apply(profiles[i], &shape, &views[i]))
			return -ENOMEM;
		shown[i] = &views[i];
		*made = i + 1;
	}
	return 0;
}

static uint64_t left_of(const struct profile *const *shown, uint32_t count, uint64_t *of)
{
	uint64_t left = 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		left += shown[i]->stored - shown[i]->left_out;
		*of += shown[i]->stored;
	}
	return left;
}

static int explain(struct cli *cli, struct conversion *c, struct buffer *out, struct error *err)
{
	const struct options *o = &cli->options;
	uint32_t count, made = 0;
	const struct profile *const *profiles = convert_profiles(c, &count);
	struct profile *views = calloc(count + 1, sizeof(*views));
	const struct profile **shown = calloc(count + 1, sizeof(*shown));
	struct explained e = {.file = cli->words[0], .profiles = shown, .count = count, .around = readers_around(c),
			      .parts = EXPLAINED_ALL,
			      .most = EXPLANATION_MOST};
	uint64_t of = 0;
	int rc = views && shown ? narrow(profiles, count, o, views, shown, &made) : -ENOMEM;

	if (rc == 0)
		rc = explanation_put(&e, strcmp(o->format, "json") == 0, out);
	if (rc)
		error_set(err, -rc, "explain: %s", rc == -ENOMEM ? "out of memory" : error_text(-rc));
	else if (made)
		rc = report_left(o, left_of(shown, count, &of), of, err);
	while (made > 0)
		free((void *)views[--made].stacks);
	free(views);
	free(shown);
	return rc;
}

static int check_words(const struct cli *cli, struct error *err)
{
	const char *format = cli->options.format;

	if (cli->word_count != 1 || cli->program)
		return error_set(err, EINVAL, "explain: which file? jstrobe explain recording.jfr (or a JSON result, "
				 "collapsed stacks, or a file of pprof and the like; one file)");
	if (format[0] && strcmp(format, "json") != 0 && strcmp(format, "text") != 0)
		return error_set(err, EINVAL, "explain: it is text, or JSON with -o json; for %s there is "
				 "`jstrobe convert`", format);
	return 0;
}

int cli_explain(struct cli *cli)
{
	struct conversion *c = NULL;
	struct buffer out = BUFFER_INIT;
	struct error err;
	struct options asked;
	int rc = check_words(cli, &err);

	cli->options.threads = true; /* groups of them, and who held a lock, are known then */
	asked = cli->options;
	strcpy(asked.format, "hot"); /* it tells of locks, for which times are needed */
	reading_guard();
	if (rc == 0)
		rc = readers_read(cli->words[0], &asked, false, &c, &err);
	if (rc == 0) {
		rc = explain(cli, c, &out, &err);
		reading_notes(readers_notes(c));
	}
	if (c)
		readers_free(c);
	if (rc) {
		buffer_free(&out);
		console_error("%s", err.text);
		return rc == -EINVAL ? CLI_USAGE : CLI_FAILED;
	}
	return cli_print(&out);
}
