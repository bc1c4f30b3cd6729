/*
 * top_history.h - CPU time of the process, second by second, of the last minute.
 *
 * A second of which the stream said nothing has no figure: the reader was stopped, the JVM stood still, or the stream
 * was begun anew. It is shown as a gap, not as an idle second. Of several such in a row the next figure is the mean.
 */
#ifndef JSTROBE_CLI_LIVE_TOP_HISTORY_H
#define JSTROBE_CLI_LIVE_TOP_HISTORY_H

#include "common/base/buffer.h"

#define TOP_SECONDS 60
#define TOP_GAP UINT32_MAX

struct top_history {
	uint32_t seconds[TOP_SECONDS]; /* CPU time in permille of a CPU, or TOP_GAP; a ring */
	uint64_t count;                /* seconds so far */
	uint64_t time, cpu;            /* of the last figure; time 0: there is none */
	uint64_t arrived;              /* … by our clock */
};

/* At TIME the process had used CPU ns; NOW by our clock. */
void top_history_add(struct top_history *h, uint64_t time, uint64_t cpu, uint64_t now);
/* What comes next is of another session: its time and figures begin anew. */
void top_history_part(struct top_history *h);
/* Append a line of at most COLUMNS columns, without its end: a block a second, the last one that of NOW. */
void top_history_put(const struct top_history *h, uint64_t now, unsigned columns, struct buffer *out);

#endif
