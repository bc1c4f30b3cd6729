/*
 * writers.h - the writers of formats.def, for the table and for one another.
 * Inner header of the format room.
 */
#ifndef JSTROBE_FORMAT_WRITERS_H
#define JSTROBE_FORMAT_WRITERS_H

#include "format/format.h"

typedef void format_writer(const struct profile *, const struct format_options *, struct buffer *);

format_writer format_collapsed, format_text, format_traces, format_flat, format_calltree,
	format_hot, format_json, format_page, format_loss;

/* Whether stacks get their thread as root frame. */
static inline bool format_by_thread(const struct profile *p, const struct format_options *options)
{
	return p->per_thread && options->threads;
}

#endif
