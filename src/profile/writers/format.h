/*
 * format.h - the door of the writers room: one writer a file.
 */
#ifndef JSTROBE_WRITERS_FORMAT_H
#define JSTROBE_WRITERS_FORMAT_H

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "profile/model/profile.h"

/* How the user wants frames and numbers; zeroed = defaults. */
struct format_options {
	bool total;     /* weights (ns) instead of sample counts */
	bool lines;     /* show source lines where known */
	bool threads;   /* thread name as root frame (text, collapsed, page) */
	bool color;     /* ANSI colour in text output */
	/* names, see frame_name.h */
	bool simple, dot, norm, sig, ann, lib;
	/* the page: callers instead of callees, and the root at the other side */
	bool reverse, inverted;
	double minwidth; /* page, call tree: frames below this many percent are put together */
	/*
	 * Only stacks with a frame or thread that one of these patterns matches, none with one of
	 * those; patterns are apart by '\n', NULL or "" = all.
	 */
	const char *include, *exclude;
	bool owners;    /* of waits for locks: stacks of those who held them, see owners.h */
	bool event;     /* there are several: collapsed stacks have the event as root frame, loss lines begin with it */
	unsigned flat;   /* text: hottest methods to list; 0 = the format's default */
	unsigned traces; /* text: hottest stacks to list; 0 = the format's default */
};

struct format {
	const char *name;       /* "collapsed": word of -o and of the agent option */
	const char *extensions; /* "collapsed folded": file extensions, space separated */
	const char *help;       /* one line */
	/* The writer itself; use format_write. NULL: a recording, see jfr.h. */
	void (*write)(const struct profile *, const struct format_options *, struct buffer *out);
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

/* Whether F makes text for people; JSON, pages and recordings are for programs. */
bool format_is_text(const struct format *f);
/* The sequences for colours that texts have if they were asked for; ended by NULL. */
extern const char *const format_colours[];
/* The format called NAME ("text" is flat+traces), or NULL. */
const struct format *format_by_name(const char *name);
/*
 * Append what happened to the samples, one line without newline: "10,012 samples taken, 10,010
 * stored, 2 lost (queue_full 2: 2.0 ms) · 9.99 s of 10.02 s CPU time sampled, 30 ms unsampled ·
 * 99.98 % complete stacks". Without samples it says why. Normal code.
 */
void format_loss_line(const struct profile *p, struct buffer *out);
/*
 * What is in no sample of P, stored or lost, by its other counts: CPU time of the process but for jstrobe's own,
 * or events by the kernel's count. 0 where the whole is not known.
 */
uint64_t format_unsampled(const struct profile *p);
/* The format for a file name's extension; "text" when it has no known one. */
const struct format *format_by_file(const char *file);
/*
 * Refuse a FILE whose extension promises what cannot be written: text in an x.svg would be found out after the
 * recording only. No extension, or one that is no word (x.1, x.%t), promises nothing: it is text.
 */
int format_check_file(const char *file, struct error *err);

#endif
