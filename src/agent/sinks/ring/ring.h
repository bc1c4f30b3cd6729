/*
 * ring.h - the sink that remembers the last minutes and writes no file: the flight recorder.
 *
 * Samples lie packed in blocks, one after the other in the order in which they came; a block whose last
 * sample is older than the window is used for new ones. About 16 bytes a sample. Beyond `limit` the
 * oldest block goes although it is in the window, and the ring says how far back it reaches.
 *
 * It has no thread and no lock of its own: samples come with the collector's lock held (agent/collect/sink.h).
 */
#ifndef JSTROBE_SINKS_RING_RING_H
#define JSTROBE_SINKS_RING_RING_H

#include "agent/collect/collector.h"
#include "agent/collect/collector_state.h"
#include "agent/collect/sink.h"

struct ring;

/* A ring of the last LAST ns in at most LIMIT bytes. NULL when out of memory. */
struct ring *ring_new(uint64_t last, uint64_t limit);
/* Samples of C go into it from now on; no longer. What it holds stays until ring_free. */
void ring_begin(struct ring *r, struct collector *c);
void ring_end(struct ring *r);
void ring_free(struct ring *r);

/*
 * Call FN for each sample of the window that ends now (of one that has ended: at its end), oldest first by
 * threads. Collector's lock held.
 */
void ring_each(struct ring *r, void (*fn)(const struct sink_event *, void *arg), void *arg);
/* A ring of its own with what R holds now. NULL when out of memory. Collector's lock held. */
struct ring *ring_copy(const struct ring *r);
/* The counts of R's window as it ends now, or ended. Collector's lock held. */
struct ring_books {
	uint64_t cpu, own;     /* CPU time of the process, and of jstrobe's threads, ns */
	struct loss_totals lost[RECORD_EVENTS];
};
void ring_books(const struct ring *r, struct ring_books *b);
/*
 * As of the last drain: where the window begins, os_monotonic of its oldest sample, 0: it is empty; bytes of memory.
 * Any thread in normal code, no lock: who asks how it stands waits for no drain.
 */
uint64_t ring_since(struct ring *r);
size_t ring_bytes(struct ring *r);

/* As collector_views, of the samples in R alone. */
bool ring_views(struct ring *r, struct collector *c, const struct collector_cut *cut, struct profile **views);

#endif
