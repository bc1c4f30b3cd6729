/*
 * sink_filter.h - include and exclude for those who are given samples one by one: recordings and streams. Inner
 * header of the sinks room.
 *
 * A stack belongs to its thread there, so patterns are held against the thread's name as well; of a wait also against
 * the lock's class. What a frame's names say is kept by its number. Collector's lock held.
 */
#ifndef JSTROBE_SINKS_SINK_FILTER_H
#define JSTROBE_SINKS_SINK_FILTER_H

#include "agent/collect/collector_state.h"
#include "agent/collect/sink.h"
#include "profile/writers/format.h"

struct shown {
	struct format_options options; /* the patterns are its own */
	VECTOR(uint8_t) frames;        /* by named frame: 0 = not looked at yet */
	struct buffer name;            /* room for spelling */
};

/* What O leaves out. 0 or -ENOMEM; shown_close in both cases. */
int shown_open(struct shown *s, const struct format_options *o);
void shown_close(struct shown *s);
/* Whether E of C belongs into the output. Frames without names yet are judged by what stands for these. */
bool shown_event(struct shown *s, struct collector *c, const struct sink_event *e);

#endif
