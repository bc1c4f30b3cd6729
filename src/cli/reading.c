#include "cli/reading.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/os/os.h"
#include "profile/exports/exports.h"
#include "profile/readers/group_expression.h"
#include "profile/readers/readers.h"
#include "profile/views/views.h"

/* The file was truncated while we read it: there is nothing to read on with. */
static void file_was_cut(int signal)
{
	static const char text[] = "jstrobe: the file became shorter while it was read, or its disk failed\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(CLI_FAILED);
	_exit(CLI_FAILED);
}

static struct {
	volatile sig_atomic_t interrupted;
	const char *name;
	uint64_t began, told; /* ns */
} reading;

#define SOON NS_PER_S             /* what is over by then needs no words */
#define EVERY (NS_PER_S / 10)

static void interrupt(int signal)
{
	reading.interrupted = 1;
}

static bool step(uint64_t done, uint64_t of)
{
	uint64_t at = os_monotonic();

	if (at - reading.began > SOON && at - reading.told > EVERY) {
		reading.told = at;
		console_progress_part(done, of, "reading %s: %llu of %llu MB", reading.name,
				      (unsigned long long)(done >> 20), (unsigned long long)(of >> 20));
	}
	return !reading.interrupted;
}

void reading_guard(void)
{
	signal(SIGBUS, file_was_cut);
	readers_watch(step);
}

void reading_begin(const char *name)
{
	/* the second one is not caught */
	struct sigaction once = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
	const char *slash = strrchr(name, '/');

	sigaction(SIGINT, &once, NULL);
	sigaction(SIGTERM, &once, NULL);
	reading.name = slash ? slash + 1 : name;
	reading.began = reading.told = os_monotonic();
}

bool reading_end(void)
{
	console_progress_end();
	/* what comes now looks at no flag */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	return readers_were_stopped();
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

static struct group_expression groups;

int reading_groups(const struct options *o, struct error *err)
{
	group_expression_free(&groups);
	return group_expression_read(&groups, o->group, err);
}

struct format_options reading_shape(const struct options *o, bool colour)
{
	/* as jfrconv has it: kinds of code in collapsed stacks; and its expressions were obeyed when they were read */
	bool ann = o->ann || (o->jfrconv && strcmp(o->format, "collapsed") == 0);

	return (struct format_options){
		.total = o->total, .lines = o->lines || o->bci, .threads = o->threads, .details = o->verbose,
			.idle = o->idle, .views = &views, .namer = group_expression_namer(&groups),
			.vthreads = o->vthreads,
		.color = colour, .simple = o->simple, .dot = o->dot,
		.norm = o->norm, .lasting = !o->no_norm, .sig = o->sig,
		.ann = ann, .lib = o->lib, .reverse = o->reverse,
		.inverted = o->inverted, .minwidth = o->minwidth / 1000.0, .include = o->jfrconv ? NULL : o->include,
		.exclude = o->jfrconv ? NULL : o->exclude,
		.exports = exports_write, .highlight = o->highlight[0] ? o->highlight : NULL, .flat = o->flat,
			.traces = o->traces,
	};
}
