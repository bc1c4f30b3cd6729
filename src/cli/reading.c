#include "cli/reading.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* The file was truncated while we read it: there is nothing to read on with. */
static void file_was_cut(int signal)
{
	static const char text[] = "jstrobe: the file became shorter while it was read, or its disk failed\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(CLI_FAILED);
	_exit(CLI_FAILED);
}

void reading_guard(void)
{
	signal(SIGBUS, file_was_cut);
}

int reading_write_failed(int rc, uint64_t most, struct error *err)
{
	if (rc == -EFBIG)
		return error_set(err, EFBIG, "the result would have over %llu MB, more than a file of that size can "
				 "mean: long names stand in many frames, or deep stacks in many threads; leave out -t, "
				 "take a part (--include, --minwidth), or write .html, which has each name once",
				 (unsigned long long)(most >> 20));
	return error_set(err, -rc, "the result cannot be written: %s", error_text(-rc));
}

void reading_notes(const char *notes)
{
	size_t n;

	for (; *notes; notes += n + (notes[n] != '\0')) {
		n = strcspn(notes, "\n");
		console_note("%.*s", (int)n, notes);
	}
}

/* One file cannot be read and replaced at the same time. */
int reading_check_places(const char *command, const char *in, const struct options *o, struct error *err)
{
	struct stat a, b;

	if (o->file[0] && stat(in, &a) == 0 && stat(o->file, &b) == 0 && a.st_dev == b.st_dev &&
	    a.st_ino == b.st_ino)
		return error_set(err, EINVAL, "%s: %s and %s are the same file; choose another name for the "
				 "result", command, in, o->file);
	return 0;
}

struct format_options reading_shape(const struct options *o, bool colour)
{
	/* as jfrconv has it: kinds of code in collapsed stacks; and its expressions were obeyed when they were read */
	bool ann = o->ann || (o->jfrconv && strcmp(o->format, "collapsed") == 0);

	return (struct format_options){
		.total = o->total, .lines = o->lines || o->bci, .threads = o->threads,
		.color = colour, .simple = o->simple, .dot = o->dot,
		.norm = o->norm, .sig = o->sig, .ann = ann, .lib = o->lib, .reverse = o->reverse,
		.inverted = o->inverted, .minwidth = o->minwidth / 1000.0, .include = o->jfrconv ? NULL : o->include,
		.exclude = o->jfrconv ? NULL : o->exclude,
		.highlight = o->highlight[0] ? o->highlight : NULL, .flat = o->flat, .traces = o->traces,
	};
}
