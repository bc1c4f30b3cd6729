/*
 * recording.h - the sink that writes a recording (profile/writers/jfr/jfr.h) while sampling goes on.
 *
 *   collector's thread ─ events ─▶ pending ─▶ thread "jstrobe write", each second: names, constants, file
 *
 * Naming and writing may take long, so they have a thread of their own; the collector only appends
 * to a list. What is in the file after each second is whole. Memory: the samples of a second, the
 * distinct stacks of a chunk.
 */
#ifndef JSTROBE_SINKS_RECORDING_RECORDING_H
#define JSTROBE_SINKS_RECORDING_RECORDING_H

#include <sys/types.h>

#include "agent/collect/collector.h"
#include "agent/zone/thread_record.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "profile/writers/format.h"
#include "profile/writers/jfr/jfr.h"

struct recording;

enum recording_kind {
	RECORDING_CPU,   /* weights are CPU time */
	RECORDING_WALL,  /* weights are real time, samples come in runs */
	RECORDING_LOCK,  /* waits for locks */
	RECORDING_IO,    /* calls that read, write and the like */
	RECORDING_EVENT, /* weights are events of the kernel or the hardware */
};

/* What a file holds of an event, and what it tells of the rest. There are RECORD_EVENTS of them for a file. */
struct recording_books {
	uint64_t stored, weight, complete, ambiguous;
	struct collector_clocks clocks;     /* when these were read; all 0: sampling had ended, or it is a window */
	uint64_t window_cpu, window_own;    /* CPU time of the process and of jstrobe's threads in a window; else 0 */
	struct recording_left_out {
		uint64_t samples, weight;
	} left_out;                         /* of the stored, by include and exclude */
	uint64_t lost[LOSS_REASONS], lost_weight[LOSS_REASONS];
};

struct recording_options {
	unsigned cpu_events;  /* JFR_CPU_* */
	uint64_t chunk_size, chunk_time; /* when a chunk ends: bytes, ns */
	uint64_t max_size;    /* of the file, 0 = any */
	uint64_t began;       /* os_monotonic; 0 = now */
	struct {
		uint64_t size;   /* of what it holds already, whole chunks; 0 = replace it */
		uint32_t last_key;
		uint64_t began;  /* os_monotonic, of the first recording in it */
		const struct recording_books *books; /* what it holds of each event; only for recording_new() */
	} append;
	bool apart;           /* recording_append will come */
	bool object_samples;  /* objects as jdk.ObjectAllocationSample */
	bool no_spans;        /* wall-clock samples without timeSpan */
	bool no_cpu_load, no_heap; /* how busy machine, process and threads were; how full the heap */
	bool partial;         /* only a part was to be sampled, as in struct collector_counts */
	bool windows;         /* begin, end or ttsp: their lengths are written */
	bool nobatch;        /* wall-clock samples one by one */
	struct format_options filter; /* include and exclude, and how these spell frames */
	struct {
		char name[256];
		enum recording_kind kind;
		uint64_t interval;
	} events[RECORD_EVENTS];
};

/*
 * A recording into FD, a file open for reading and writing, which becomes the recording's (also
 * when this fails). What it holds is replaced. NULL with the reason.
 */
struct recording *recording_new(int fd, const struct recording_options *o, struct error *err);
/* Whether its types are numbered apart from a JVM's: see profile/writers/jfr/jfr_types.h. */
bool recording_is_apart(const struct recording *r);
/* An event that stands at the begin of each chunk; values are copied. */
void recording_setting(struct recording *r, unsigned type, const struct jfr_value *values, unsigned count);
/* What the CPU clocks of the process and of jstrobe's threads show beyond the time that is the file's, ns. */
struct recording_clocks {
	uint64_t cpu, own;
};
/* Whether it goes on in a file that an earlier one has begun. */
bool recording_is_appended(const struct recording *r);
/* From here on samples of C go into it. What C holds by now is in the file's books only where the file holds it. */
int recording_begin(struct recording *r, struct collector *c, const struct recording_clocks *clocks, struct error *err);
/* All threads there were have been found: those found from now on are new ones. */
void recording_threads_known(struct recording *r);
/*
 * Instead: write what RING holds of C, in slices, so that sampling goes on meanwhile without a gap. 0, or why
 * something is missing.
 */
struct ring;
int recording_write_ring(struct recording *r, struct collector *c, struct ring *ring, struct recording_books *books,
			 struct error *err);
/* Everything stored so far is in the file afterwards, which holds what BOOKS say. 0, or why something is missing. */
int recording_flush(struct recording *r, struct recording_books *books, struct error *err);
/* The same, and append the file to OUT. */
int recording_copy(struct recording *r, struct buffer *out, struct recording_books *books, struct error *err);
/*
 * Instead of recording_begin: OUT gets a recording of its own, of the objects of C that are there now. The last look
 * at them was just now.
 */
int recording_write_survivors(struct recording *r, struct collector *c, struct buffer *out, struct error *err);
/*
 * The end (after collector_stop): the last samples are written. Why something is missing, or 0. -EINPROGRESS: its
 * thread has not ended, as the disk does not answer; this can be called again.
 */
int recording_end(struct recording *r, struct error *err);
/*
 * After recording_end: append FILE, whole chunks of WHAT ("the JDK's events"); of ours the last key is KEY, of the
 * JDK's it is 0. A failure leaves ours as it was.
 */
int recording_append(struct recording *r, int file, uint32_t key, const char *what, struct error *err);
/*
 * After recording_end, or instead of recording_begin. Closes the file. One that recording_end could not end stays.
 */
void recording_free(struct recording *r);

struct recording_totals {
	uint64_t bytes, samples, dropped; /* of the file; written to it; stored, but not written */
	uint32_t chunks;
	uint32_t last_key;
	uint64_t began;
	struct recording_books books[RECORD_EVENTS];
};
void recording_totals(struct recording *r, struct recording_totals *t);
/* Which file it is. */
void recording_identity(struct recording *r, dev_t *device, ino_t *inode);

#endif
