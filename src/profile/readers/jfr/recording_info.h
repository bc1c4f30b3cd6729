/*
 * recording_info.h - what a recording says of itself beside its samples.
 */
#ifndef JSTROBE_READERS_JFR_RECORDING_INFO_H
#define JSTROBE_READERS_JFR_RECORDING_INFO_H

#include "common/base/buffer.h"
#include "profile/readers/read_aggregate.h"
#include "profile/model/surroundings.h"

/* Our own counts of an event's samples, as of the end of the recording. */
struct recording_info_counts {
	uint32_t told;   /* a string, of JSON: what stands in the place of all these; 0: nothing does */
	uint32_t event, engine; /* strings of the aggregate */
	uint64_t said_at;       /* where in the file, 0 = only losses and the interval were said */
	uint64_t interval, taken, stored, complete, cpu_time, own_cpu;
	uint64_t weight_stored;
	uint64_t children_cpu, counted, gap; /* of results in JSON only */
	uint64_t ambiguous;                 /* recordings of older versions do not say it */
	uint64_t left_out, weight_left_out; /* by include and exclude: stored, but not in the file */
	uint64_t lost[LOSS_REASONS], lost_weight[LOSS_REASONS];
	bool partial;                       /* as in struct profile; recordings of older versions do not say it */
	uint64_t lost_otherwise; /* by a reason that this version does not know */
};

struct recording_info {
	uint64_t start_ns, end_ns;          /* of what was read; 0 = nothing was */
	uint64_t interval, wall_interval;   /* ns, by the settings of the last chunk; 0 = not said */
	uint64_t period;                    /* of jdk.ExecutionSample */
	int pid;
	uint32_t jdk, main_class;           /* strings of the aggregate */
	uint64_t jdk_lost;                  /* jdk.CPUTimeSamplesLost */
	uint64_t cut, cuts;                 /* bytes of first samples, of so many threads (first_allocs.h) */
	VECTOR(struct recording_info_counts) counts;
	struct surroundings around;         /* as `record` saw them */
	bool around_twice;                  /* several sessions have some: they are of none of them alone, nor of all */
	/* what could not be read */
	uint32_t chunks, open_chunks, lost_chunks;
	uint64_t lost_bytes;
	bool constants_damaged;
};

#define RECORDING_INFO_COUNTS_MAX LIMIT_COUNT(1000)
#define RECORDING_INFO_TOO_MANY "counts of over 1,000 events"

/* The counts of the event with number EVENT; NULL: out of memory, or RECORDING_INFO_COUNTS_MAX others have some. */
struct recording_info_counts *recording_info_counts_of(struct recording_info *f, uint32_t event);
/* A setting of a recording; ns, 0 if VALUE is no time. "20 ms", "10000000" (ns). */
uint64_t recording_info_time(const char *value);
/* CUT bytes of a thread's first sample are left out; 0: none. */
static inline void recording_info_cut(struct recording_info *f, uint64_t cut)
{
	f->cut += cut;
	f->cuts += cut != 0;
}

/* Keep what jdk.JVMInformation says. */
void recording_info_jvm(struct recording_info *f, struct strings *strings, const char *version, const char *arguments,
	       int64_t pid);
/* Append a sentence a line on what could not be read of the file called NAME. */
void recording_info_notes(const struct recording_info *f, const char *name, struct buffer *out);

/*
 * Chunks are independent of one another, so that several threads read a large recording,
 * each into an aggregate and info of its own; in the end all become one.
 */

/* Add all of FROM to TO. Out of memory sets to->no_memory. */
void workers_join_aggregate(struct read_aggregate *to, const struct read_aggregate *from);
/* The same for the info, whose strings are those of FROM_AGGREGATE and become those of TO_AGGREGATE. */
void workers_join_info(struct recording_info *to, struct read_aggregate *to_aggregate,
		       const struct recording_info *from,
			const struct read_aggregate *from_aggregate);

#endif
