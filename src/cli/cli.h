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
	bool at_door;        /* … or by that of its launcher: what it lets pass, passes */
	char **program;      /* what follows --, ended by NULL; NULL if there is no -- */
};

#define COMMAND(name, arguments, help) int cli_##name(struct cli *cli);
#include "cli/commands.def"

/* Help on the command called NAME on OUT, with ALL its options; false if there is none. */
bool cli_help_command(const char *name, bool all, struct buffer *out);
/* The question that COMMAND answers. */
const char *cli_help_question(const char *command);
/* Which JVM, and what of it: asked in the terminal, and done. An exit code; *NONE: there is no JVM. */
int cli_dialogue(bool *none);
/* The manual page PAGE, "agent" or NULL for the command's, on OUT; false if there is none. */
bool cli_man(const char *page, struct buffer *out);
/* Write all of B to stdout and free it. An exit code. */
int cli_print(struct buffer *b);
/* -EINVAL when another form of output than JSON is asked for, where there is a text or JSON. */
int cli_check_json(const struct cli *cli, struct error *err);
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
/* Whether there is a person to ask. */
bool console_asks(void);
/* Ask FMT, a question that ends in [y/N]; whether the answer was yes. */
bool console_ask(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Ask FMT; LINE gets what is typed, without blanks at its ends. False: nothing is, any more. */
bool console_ask_for(char *line, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Whether all that is said, answered and asked is so in a terminal. */
bool console_is_dialogue(void);
/* A line that the next one overwrites; on a terminal only. */
void console_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A line with a bar: DONE of OF (0: not known, no bar), then FMT. */
void console_progress_part(uint64_t done, uint64_t of, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The progress line is gone, also one that watch.c has written. */
void console_progress_end(void);
/* Another thread has written a progress line itself. */
void console_progress_noted(void);
/* Whether progress is shown at all. */
bool console_shows_progress(void);
/* Whether a text for descriptor FD may have colours. */
bool console_colour(int fd);
/* Columns of the terminal FD; 0: it is none. */
unsigned console_width(int fd);

/* ---- first_words.c ---------------------------------------------------------------- */

/* Append what the words of the first screen mean; MARKDOWN: as tables. */
void first_words(struct buffer *out, bool markdown);

/* ---- signal_fd.c ------------------------------------------------------------------ */

/* Block the signals we care for; the descriptor by which they come, or a negative errno. */
int signals_open(struct error *err);
/* The next signal that has come, 0 if none; FROM_TERMINAL: the program's whole group got it. */
int signals_next(int fd, bool *from_terminal);
/* Readable while one of them waits that asks for an end: all but SIGCHLD; -1: they are not open. Only to be polled. */
int signals_interrupts(void);
/* In a child before exec: give signals back as they were. */
void signals_restore(void);
/* What the command ends with where RC, a negative errno or 0, is all that came of its work. */
static inline int cli_exit_code(int rc)
{
	return rc == -EINTR ? CLI_ABORTED : rc ? CLI_FAILED : CLI_DONE;
}

#endif
