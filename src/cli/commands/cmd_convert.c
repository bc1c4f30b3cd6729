/*
 * jstrobe convert: a file that holds a profile already, as another one: recordings (JFR) and collapsed
 * stacks become pages, stacks, text, JSON; a recording that was not finished becomes one that is.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/reading.h"
#include "cli/replace.h"
#include "cli/report.h"
#include "cli/result.h"
#include "profile/findings/findings.h"
#include "profile/readers/readers.h"
#include "profile/writers/format.h"

/* Formats that hold several events side by side; of others one is shown unless more are asked for. */
static bool holds_several(const struct format *f)
{
	return strcmp(f->name, "json") == 0 || format_is_export(f) || format_is_page(f);
}

static int write_profiles(const struct conversion *c, const struct format *f, const struct options *o,
			  const struct result *result, struct format_told *told, struct error *err)
{
	struct format_options options = reading_shape(o, result_colour(result));
	const struct profile *const *profiles;
	struct format_beside beside;
	struct findings findings;
	struct buffer out;
	uint32_t count;
	int rc;

	buffer_init(&out, result->fd);
	out.most = readers_most_bytes(c);
	profiles = convert_profiles(c, &count);
	/* a file that does not say how its methods were compiled; it is the same for all of its events */
	options.ann &= count == 0 || !profiles[0]->kinds_unknown;
	options.width = result_width(result);
	if (findings_find(&findings, profiles, count, readers_around(c)) == 0) {
		findings_beside(&beside, &findings, readers_around(c));
		options.beside = &beside;
	}
	format_write(f, profiles, count, &options, &out, told);
	rc = buffer_flush(&out);
	buffer_free(&out);
	return rc ? reading_write_failed(rc, out.most, err) : 0;
}

static int make_profile(const char *in, struct options *o, struct result *result, struct error *err)
{
	const struct format *f = format_by_name(o->format);
	struct format_told told = FORMAT_TOLD_INIT;
	struct conversion *c = NULL;
	int rc;

	reading_begin(in);
	rc = readers_read(in, o, !holds_several(f), &c, err);
	reading_end();
	if (rc == 0)
		rc = write_profiles(c, f, o, result, &told, err);
	if (rc == 0)
		rc = result_keep(result, -1, err);
	if (rc == 0) {
		reading_notes(readers_notes(c));
		rc = told.filtered ? report_left(o, told.left, told.stored, err) : 0;
	}
	buffer_free(&told.losses);
	if (c)
		readers_free(c);
	return rc;
}

static int repair(const char *in, struct result *result, struct error *err)
{
	struct buffer notes = BUFFER_INIT;
	int rc;

	reading_begin(in);
	rc = readers_repair(in, result->fd, &notes, err);
	reading_end();
	if (rc == 0)
		rc = result_keep(result, -1, err);
	buffer_putc(&notes, '\0');
	if (!notes.failed)
		reading_notes(notes.data);
	buffer_free(&notes);
	return rc;
}

static int convert(const char *in, struct options *o, struct error *err)
{
	struct result result = RESULT_INIT;
	int rc = result_find(&result, o, 0, "hot", false, err);

	if (rc == 0)
		rc = replace_check(&result.place, result.file, o, err);
	if (rc == 0)
		rc = result_open(&result, false, err);
	if (rc == 0)
		rc = strcmp(o->format, "jfr") == 0 ? repair(in, &result, err) : make_profile(in, o, &result, err);
	result_drop(&result);
	/* a part was asked for by a signal: it is there, and the command was interrupted */
	return rc == 0 && readers_were_stopped() ? error_set(err, EINTR, "interrupted") : rc;
}

/*
 * jfrconv's patterns are regular expressions, and it gets them. Ours are names with a '*' at the begin or end, and an
 * expression would find nothing, or leave nothing out, without a word.
 */
static int check_patterns(const char *option, const char *list, struct error *err)
{
	size_t n;

	for (; *list; list += n + (list[n] != '\0')) {
		const char *any = strstr(list, ".*");

		n = strcspn(list, "\n");
		if (*list == '^' || (any && (any == list || (size_t)(any - list) + 2 < n)))
			return error_set(err, EINVAL, "convert: %s '%.*s': patterns are names here, not regular "
					 "expressions (which jfrconv takes), with * at the begin or end: "
					 "'*HashMap.put*'",
					 option, (int)n, list);
	}
	return 0;
}

static int check_words(struct cli *cli, struct error *err)
{
	struct options *o = &cli->options;

	if (cli->word_count == 0)
		return error_set(err, EINVAL, "convert: which file? jstrobe convert recording.jfr flame.html");
	if (cli->word_count > 2 && !o->file[0] && !cli->program)
		return error_set(err, EINVAL, "convert: several files become as many: the last word must be a "
				 "folder that exists, as in jstrobe convert a.jfr b.jfr pages/");
	if (cli->word_count > 2 || (cli->word_count == 2 && o->file[0]) || cli->program)
		return error_set(err, EINVAL, "convert: one file becomes one; give IN and OUT, or IN and -f OUT");
	if (cli->word_count == 2 && strlen(cli->words[1]) >= sizeof(o->file))
		return error_set(err, ENAMETOOLONG, "convert: the name of the result is too long");
	if (cli->word_count == 2)
		strcpy(o->file, cli->words[1]);
	/* there a result whose name has no suffix is a page */
	if (cli->as_jfrconv && !o->format[0] && o->file[0] && !strchr(o->file, '.') && strcmp(o->file, "-") != 0)
		strcpy(o->format, "html");
	return reading_check_places("convert", cli->words[0], o, err);
}

static bool is_folder(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The suffix of a file in FORMAT. */
static const char *suffix_of(const char *format, char out[16])
{
	const struct format *f = format_by_name(format);

	if (f && format_is_page(f))
		return "html";
	snprintf(out, 16, "%.*s", f ? (int)strcspn(f->extensions, " ") : 0, f ? f->extensions : "");
	return out[0] ? out : format;
}

/* The file in FOLDER that IN becomes: its own name with the suffix of the format. */
static int name_result(const char *in, const char *folder, struct options *o, struct error *err)
{
	const char *slash = strrchr(in, '/'), *name = slash ? slash + 1 : in, *dot = strrchr(name, '.');
	char suffix[16];
	int stem = (int)(dot ? (size_t)(dot - name) : strlen(name)), n;

	if (!o->format[0])
		strcpy(o->format, "html");
	n = snprintf(o->file, sizeof(o->file), "%s/%.*s.%s", folder, stem, name, suffix_of(o->format, suffix));
	if (n >= (int)sizeof(o->file))
		return error_set(err, ENAMETOOLONG, "convert: the name of the result is too long");
	return 0;
}

/* One of several: of a file without what is wanted only that is said. */
static int convert_to(const char *in, const char *folder, struct options *o, bool alone, struct error *err)
{
	int rc = name_result(in, folder, o, err);

	if (rc == 0)
		rc = reading_check_places("convert", in, o, err);
	if (rc == 0)
		rc = convert(in, o, err);
	if (rc != -ENODATA || alone)
		return rc;
	console_note("%s", err->text);
	return 0;
}

static int is_recording(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 4 && strcmp(e->d_name + n - 4, ".jfr") == 0;
}

/* All recordings of the folder IN. */
static int convert_all(const char *in, const char *folder, struct options *o, struct error *err)
{
	struct dirent **found = NULL;
	char name[PATH_MAX];
	int count = scandir(in, &found, is_recording, alphasort), rc = 0, i;

	if (count <= 0)
		rc = error_set(err, count ? errno : ENOENT, "convert: there is no recording (*.jfr) in the folder %s",
			       in);
	for (i = 0; i < count; i++) {
		if (rc == 0 && snprintf(name, sizeof(name), "%s/%s", in, found[i]->d_name) >= (int)sizeof(name))
			rc = error_set(err, ENAMETOOLONG, "convert: the name of a recording in %s is too long", in);
		if (rc == 0)
			rc = convert_to(name, folder, o, count == 1, err);
		free(found[i]);
	}
	free(found);
	return rc;
}

/* Each of the words but for FOLDER as a file there. */
static int convert_into(struct cli *cli, const char *folder, struct error *err)
{
	int files = cli->word_count - (cli->words[cli->word_count - 1] == folder), i, rc = 0;

	for (i = 0; rc == 0 && i < files; i++)
		rc = is_folder(cli->words[i]) ? convert_all(cli->words[i], folder, &cli->options, err) :
		     convert_to(cli->words[i], folder, &cli->options, files == 1, err);
	return rc;
}

/* The folder that results go to; NULL: they go to a file, or to the terminal. */
static const char *folder_of(const struct cli *cli)
{
	const char *last = cli->word_count ? cli->words[cli->word_count - 1] : NULL;

	if (cli->options.file[0] || cli->program || !last)
		return NULL;
	if (cli->as_jfrconv && cli->word_count == 1)
		return ".";
	return cli->word_count > 1 && is_folder(last) ? last : NULL;
}

/* --diff, as jfrconv has it: hidden classes without their numbers, and the page in a folder, by itself in `.`. */
static int compare(struct cli *cli, struct error *err)
{
	struct options *o = &cli->options;
	const char *folder = cli->word_count == 3 && is_folder(cli->words[2]) ? cli->words[2] : NULL;
	char name[OPTIONS_FILE_MAX];
	size_t n;

	o->norm = true;
	if (o->file[0] || (!folder && (!cli->as_jfrconv || cli->word_count != 2)))
		return 0;
	if (name_result(cli->words[1], folder ? folder : ".", o, err))
		return -EINVAL;
	cli->word_count = 2;
	strcpy(name, strrchr(o->file, '.'));
	n = strlen(o->file) - strlen(name);
	if (n + strlen(".diff") + strlen(name) >= sizeof(o->file))
		return error_set(err, ENAMETOOLONG, "convert: the name of the result is too long");
	snprintf(o->file + n, sizeof(o->file) - n, ".diff%s", name);
	return 0;
}

int cli_convert(struct cli *cli)
{
	struct options *o = &cli->options;
	const char *folder = folder_of(cli);
	struct error err;
	int rc = o->diff ? compare(cli, &err) : folder ? 0 : check_words(cli, &err);

	if (rc == 0 && o->diff)
		return cli_diff(cli);
	if (rc == 0 && !o->jfrconv)
		rc = check_patterns("--include", o->include, &err);
	if (rc == 0 && !o->jfrconv)
		rc = check_patterns("--exclude", o->exclude, &err);
	if (rc) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	reading_guard();
	rc = folder ? convert_into(cli, folder, &err) : convert(cli->words[0], o, &err);
	if (rc)
		console_error("%s", err.text);
	return rc == -EINVAL || rc == -EEXIST ? CLI_USAGE : cli_exit_code(rc);
}
