#include "cli/replace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/attach/attach.h"
#include "profile/writers/format.h"

/* FILE with %n before its suffix, all of it: x-1.pb.gz is of the format of x.pb.gz, x.pb-1.gz is not. */
static void with_number(const char *file, char *out, size_t size)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
	size_t suffix = format_suffix(file);
	int stem = (int)(suffix ? strlen(file) - suffix : dot && dot > name ? (size_t)(dot - file) : strlen(file));

	snprintf(out, size, "%.*s%s%%n%s", stem, file, file + stem == name ? "" : "-", file + stem);
}

bool replace_is_needed(const struct output *place, const struct options *o)
{
	return !o->overwrite && place->kind == OUTPUT_FILE && place->type;
}

int replace_ask(const char *file, const struct options *o, struct error *err)
{
	char other[OPTIONS_FILE_MAX + 8];

	if (console_asks()) {
		if (console_ask("%s exists. Replace it? [y/N] ", file))
			return 0;
		return error_set(err, EINTR, "%s stays as it is; nothing was done", file);
	}
	with_number(o->file[0] ? o->file : file, other, sizeof(other));
	return error_set(err, EEXIST, "%s exists already; say --overwrite to replace it, or -f '%s' for the first "
			 "number that is free", file, other);
}

int replace_check(const struct output *place, const char *file, const struct options *o, struct error *err)
{
	return replace_is_needed(place, o) ? replace_ask(file, o, err) : 0;
}

int replace_check_first(const struct cli *cli, struct error *err)
{
	const struct options *o = &cli->options;
	struct output place = {.mode = o->mode};
	bool of_pid = strstr(o->file, "%p") != NULL;
	char file[PATH_MAX];
	struct error ignored;
	const char *target;
	pid_t pid = 0;
	int rc = 0;

	/* results that follow each other in numbers that come again are meant to be replaced */
	if (!o->file[0] || o->overwrite || (!cli->program && cli->word_count != 1) ||
	    (o->loop[0] && strstr(o->file, "%n{")))
		return 0;
	/* the pid of a program that is not there yet: no file is called after it */
	if (of_pid && (cli->program || cli_target(cli, &target, &ignored) || attach_resolve(target, &pid, &ignored)))
		return 0;
	/* what else is wrong with the name is said where it is used */
	if (output_inherited(o->file) >= 0 ||
	    options_file_name(o->file, (int)pid, time(NULL), o->loop[0] ? 0 : -1, file, sizeof(file), &ignored))
		return 0;
	if (output_find(&place, file, OUTPUT_SUDO | OUTPUT_FIFO | (o->force ? OUTPUT_FORCE : 0), &ignored) == 0)
		rc = replace_check(&place, file, o, err);
	output_drop(&place);
	return rc;
}

int replace_exit_code(int rc)
{
	return rc == -EINTR ? CLI_ABORTED : CLI_USAGE;
}
