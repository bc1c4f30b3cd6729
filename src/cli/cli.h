/*
 * cli.h - the jstrobe command: what its files share.
 *
 * The command is a small single-threaded program. SIGINT, SIGTERM, SIGHUP and
 * SIGCHLD are blocked and read from one descriptor (signal_fd.c), so that no wait
 * is deaf to Ctrl-C and nothing is ever left lying about.
 */
#ifndef JSTROBE_CLI_CLI_H
#define JSTROBE_CLI_CLI_H

#include <errno.h>
#include <sys/types.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/options/options.h"

/* Exit codes; users' scripts rely on them. */
enum cli_exit {
	CLI_DONE = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_CANNOT_ATTACH = 3,
	CLI_ABORTED = 130,
};

/* A parsed command line. */
struct cli {
	struct options options;
	const char *command; /* "record" */
	char **words;        /* what is neither option nor command */
	int word_count;
	bool as_jfrconv;     /* called by the name of async-profiler's converter */
	char **program;      /* what follows --, ended by NULL; NULL if there is no -- */
};

#define COMMAND(name, arguments, help) int cli_##name(struct cli *cli);
#include "cli/commands.def"

/* Help on the command called NAME on OUT; false if there is none. */
bool cli_help_command(const char *name, struct buffer *out);
/* The manual page PAGE, "agent" or NULL for the command's, on OUT; false if there is none. */
bool cli_man(const char *page, struct buffer *out);
/* Write all of B to stdout and free it. An exit code. */
int cli_print(struct buffer *b);
/* The one word that names the JVM; -EINVAL if there is none or several. */
int cli_target(const struct cli *cli, const char **target, struct error *err);

/*
 * ---- console.c: what people see beside the result, on stderr -------------------
 *
 * A line a call, without its end. What terminals would obey is written out, whatever its origin: texts need not be made
 * safe before.
 */

/* Once, before the others. Notes, hints and progress are left out when QUIET. */
void console_init(bool quiet, bool verbose);
/* "jstrobe: …": always shown. */
void console_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* One line of the answer, on stdout. */
void console_out(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* An answer of several lines, on stdout; whether all of it could be written. */
bool console_write(const struct buffer *text);
/* errno of the first words on stdout that did not come out; 0: all did, and none waits. */
int console_out_failed(void);
/* On stderr like it, without the name before it. */
void console_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Lines worth reading. */
void console_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, on a terminal only. */
void console_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, with --verbose only. */
void console_detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A line that the next one overwrites; on a terminal only. */
void console_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Whether progress is shown at all. */
bool console_shows_progress(void);
/* Whether a text for descriptor FD may have colours. */
bool console_colour(int fd);

/* ---- signal_fd.c ------------------------------------------------------------------ */

/* Block the signals we care for; the descriptor by which they come, or a negative errno. */
int signals_open(struct error *err);
/* The next signal that has come, 0 if none; FROM_TERMINAL: the program's whole group got it. */
int signals_next(int fd, bool *from_terminal);
/* In a child before exec: give signals back as they were. */
void signals_restore(void);
/* What the command ends with where RC, a negative errno or 0, is all that came of its work. */
static inline int cli_exit_code(int rc)
{
	return rc == -EINTR ? CLI_ABORTED : rc ? CLI_FAILED : CLI_DONE;
}

#endif
