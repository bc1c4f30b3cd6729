/*
 * format_options.h - what a user asks of an output: names, numbers, filter. Plain data, any thread.
 */
#ifndef JSTROBE_MODEL_FORMAT_OPTIONS_H
#define JSTROBE_MODEL_FORMAT_OPTIONS_H

#include "common/base/base.h"
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
	bool tree;      /* the page opens at its call tree */
	const char *highlight; /* … and searches for this; NULL: for nothing */
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

/* Whether stacks get their thread as root frame. */
static inline bool format_by_thread(const struct profile *p, const struct format_options *options)
{
	return p->per_thread && options->threads;
}

#endif
