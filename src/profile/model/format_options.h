/*
 * format_options.h - what a user asks of an output: names, numbers, filter. Plain data, any thread.
 */
#ifndef JSTROBE_MODEL_FORMAT_OPTIONS_H
#define JSTROBE_MODEL_FORMAT_OPTIONS_H

#include "common/base/base.h"
#include "profile/model/profile.h"

struct buffer;
struct json_writer;
struct methods;
struct sorted;
struct thread_namer;
struct work;
struct format_options;

/* A lock without waits for work, or all objects of a class that are made for one wait each. */
struct work_lock {
	struct profile_waits waits;
	char note[160]; /* what stands behind its name: how many objects it is, and where they are waited for */
};

/* The locks of a profile. */
struct work_locks {
	struct work_lock *items; /* the longest first */
	uint32_t count;
	struct profile_waits idle;   /* the waits for work, and at how many locks */
	uint32_t idle_locks;
	bool idle_unsure;            /* most of them may be for an answer, work/unsure.h */
};

/*
 * What a result of wall time or waits shows of work, where the command makes it (profile/views). Writers that have a
 * place for it call these; the agent has none.
 */
struct format_views {
	/* P's work (work.h); NULL: no memory. */
	struct work *(*begin)(const struct profile *p, const struct format_options *o);
	/* What stands above the tables of the short report, and below them. 0 or -ENOMEM. */
	int (*above)(struct buffer *out, const struct profile *p, struct work *w, const struct format_options *o);
	void (*below)(struct buffer *out, const struct profile *p, const struct work *w);
	/* In JSON: the groups as a member of the object that is open; what a stack's thread did, by its number. */
	int (*json)(struct json_writer *to, const struct work *w, unsigned style); /* 0 or -ENOMEM */
	const char *(*activity)(const struct work *w, uint32_t stack);
	/* In the page's data: locks, groups and threads. 0 or -ENOMEM. */
	int (*page)(struct json_writer *to, const struct profile *p, struct work *w);
	/* In the page's data: what stood beside P's samples in a recording, and what memory was for. 0 or -ENOMEM. */
	int (*beside)(struct json_writer *to, const struct profile *p, const struct format_options *options);
	/* What BYTES are as a file of gzip, appended to PACKED. False: that is not worth it. */
	bool (*pack)(struct buffer *bytes, struct buffer *packed);
	void (*end)(struct work *w); /* NULL is allowed */
	/* The rows of M, of P, by methods of the program, where P is of waits. 0 or -ENOMEM. */
	int (*methods)(struct methods *m, const struct profile *p);
	/* Append NAME and what it CALLED, in COLUMNS if packages can be shortened for it; 0: any number. */
	void (*name)(struct buffer *out, const char *name, const char *called, unsigned columns);
	/* P's locks, whose items are to be freed. 0 or -ENOMEM. */
	int (*locks)(const struct profile *p, const struct work *w, struct work_locks *locks);
	const char *code; /* of the page, beside what each has (web/): what it is, as HTML */
};

struct findings;
struct format;
struct format_options;
struct surroundings;

/*
 * What a result has beside its profiles, where the command makes it: findings, and what went on around the samples.
 * Writers that have a place for them call these; the agent has none.
 */
struct format_beside {
	const struct findings *findings;
	const struct surroundings *around; /* NULL: not known */
	bool tells_lock; /* the worst lock is among the findings */
	bool locks_recorded; /* a profile of the session has the waits for locks */
	void (*text)(const struct format_beside *b, bool color, struct buffer *out);
	void (*json)(const struct format_beside *b, struct json_writer *w); /* members of the object that is open */
};

/* How the user wants frames and numbers; zeroed = defaults. */
struct format_options {
	bool total;     /* weights (ns) instead of sample counts */
	bool lines;     /* show source lines where known */
	bool threads;   /* thread name as root frame (text, collapsed, page) */
	bool details;   /* the short report: how samples were taken, and what that cost */
	unsigned width; /* columns that the short report may have; 0: any number */
	bool color;     /* ANSI colour in text output */
	/* names, see frame_name.h */
	bool simple, dot, norm, sig, ann, lib;
	bool lasting;   /* classes that are made at run time by lasting_names.h, not as the JVM names them */
	/* the page: callers instead of callees, and the root at the other side */
	bool reverse, inverted;
	bool tree;      /* the page opens at its call tree */
	const char *highlight; /* … and searches for this; NULL: for nothing */
	double minwidth; /* page, call tree: frames below this many percent are put together */
	/*
	 * Only stacks with a frame or thread that one of these patterns matches, none with one of
	 * those; patterns are apart by '\n', NULL or "" = all.
	 */
	const char *include, *exclude;
	bool owners;    /* of waits for locks: stacks of those who held them, see owners.h */
	bool idle;      /* of wall time and waits: waits for work as well, see work.h */
	bool vthreads;  /* parked virtual threads were asked for, even if none is seen */
	const struct thread_namer *namer; /* how threads are grouped; NULL: by their names but for numbers */
	const struct format_views *views; /* NULL: there are none */
	const struct format_beside *beside; /* NULL: there is nothing */
	/* writes what formats.def has as EXPORT (profile/exports); NULL: nothing here does */
	void (*exports)(const struct format *f, const struct profile *const *profiles, uint32_t count,
			const struct format_options *options, struct buffer *out);
	bool event;     /* there are several: collapsed stacks have the event as root frame, loss lines begin with it */
	unsigned flat;   /* text: hottest methods to list; 0 = the format's default */
	unsigned traces; /* text: hottest stacks to list; 0 = the format's default */
};

/* Whether stacks get their thread as root frame. */
static inline bool format_by_thread(const struct profile *p, const struct format_options *options)
{
	return p->per_thread && options->threads;
}

#endif
