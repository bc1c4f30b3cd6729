/*
 * format.h - the door of the writers room: one writer a file.
 */
#ifndef JSTROBE_WRITERS_FORMAT_H
#define JSTROBE_WRITERS_FORMAT_H

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "profile/model/format_options.h"
#include "profile/model/loss_line.h"
#include "profile/model/profile.h"

typedef void format_writer(const struct profile *, const struct format_options *, struct buffer *out);

struct format {
	const char *name;       /* "collapsed": word of -o and of the agent option */
	const char *extensions; /* "collapsed folded": file extensions, space separated */
	format_writer *write;   /* the writer itself; use format_write. NULL: a recording, see jfr.h */
	format_writer *write_calls; /* of a trace (calls.h) */
};

/* What is to be said beside a result, of the very samples that it holds. */
struct format_told {
	struct buffer losses;  /* what happened to the samples, a line an event */
	uint64_t taken, stored;
	bool filtered;         /* there were patterns: then they left LEFT of STORED samples */
	uint64_t left;
};
#define FORMAT_TOLD_INIT {.losses = BUFFER_INIT}

/*
 * Write what the filters of OPTIONS leave of COUNT profiles, one of each event of a session: JSON and the
 * page as one document that holds them all, texts one after the other, collapsed stacks with the event
 * as root frame. Errors stay in OUT. TOLD (NULL: no one asks) is filled in. Normal code.
 */
void format_write(const struct format *f, const struct profile *const *profiles, uint32_t count,
		  const struct format_options *options, struct buffer *out, struct format_told *told);
/* Fill in TOLD alone, of a result without patterns. Normal code. */
void format_tell(const struct profile *const *profiles, uint32_t count, struct format_told *told);

/* All formats, ended by an entry with name NULL (made from formats.def). */
extern const struct format formats[];

/* What F is for, in one line; "": it is not for people to choose. */
const char *format_help(const struct format *f);
/* Whether F makes text for people; JSON, pages and recordings are for programs. */
bool format_is_text(const struct format *f);
/* Whether F is a file for another viewer, which only the command can write (options->exports). */
bool format_is_export(const struct format *f);
/* Whether F is the page, however it opens. */
bool format_is_page(const struct format *f);
/* Whether what F makes shows when samples were taken. */
bool format_has_times(const struct format *f);
/* Whether F needs to know it: it shows it, or concludes from it who had a lock. */
bool format_uses_times(const struct format *f);
/* The sequences for colours that texts have if they were asked for; ended by NULL. */
extern const char *const format_colours[];
/* The format called NAME ("text" is flat+traces), or NULL. */
const struct format *format_by_name(const char *name);
/* The format for a file name's extension; "text" when it has no known one. */
const struct format *format_by_file(const char *file);
/* How many characters of the end of FILE's name are the suffix of a format, with its dot; 0: it has none. */
size_t format_suffix(const char *file);
/*
 * Refuse a FILE whose extension promises what cannot be written: text in an x.pdf would be found out after the
 * recording only. No extension, or one that is no word (x.1, x.%t), promises nothing: it is text.
 */
int format_check_file(const char *file, struct error *err);

#endif
