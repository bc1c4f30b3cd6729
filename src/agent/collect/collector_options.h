/*
 * collector_options.h - what a collector is told when it is made, and the totals that it tells.
 */
#ifndef JSTROBE_COLLECT_COLLECTOR_OPTIONS_H
#define JSTROBE_COLLECT_COLLECTOR_OPTIONS_H

#include "common/words/enum_names.h"
#include "common/words/events.h"

struct collector_options {
	uint32_t events;       /* how many the session samples, 1 to RECORD_EVENTS */
	uint64_t drain_every;  /* ns from drain to drain, 0 = 10 ms */
	bool ticks[8];         /* of each: sampled in turns, states are kept apart */
	uint8_t waits[8];      /* of each: samples are waits with notes, and it is number N of such events; else 0 */
	struct event_fields fields[8]; /* of each: what its samples say besides, in a struct field_note */
	bool live[8];          /* of each: results have what is still there of it (collect_sources.blocks) */
	bool peak[8];          /* … and what was there when most was */
	uint32_t tail;         /* live: without what came in the last so many thousandths of a percent of the run */
	bool per_thread;       /* keep stacks apart by thread, and virtual threads from one another */
	bool by_thread[8];     /* of each: keep its stacks apart by thread in any case; virtual threads are one */
	bool per_trace_context;      /* … and by what the thread worked for */
	uint32_t survived;     /* samples of objects count when these have survived so many collections */
	bool sizes;            /* arrays are told apart by their size */
	bool lines;            /* keep source lines apart */
	bool stats;            /* samples carry the time of their walk */
	bool java_only;        /* leave native and kernel frames out (cstack=no) */
	bool sched;            /* scheduling policies as outermost frames */
	bool record_cpu;       /* numbers of CPUs as outermost frames; samples carry them, not walks' times */
	uint32_t depth_kept;   /* frames kept of a stack that was cut, 0 = all of them */
	uint64_t store_bytes;  /* memory for stacks, 0 = the default */
	uint32_t hold_ms;      /* test knob: the first drains come so late */
	uint64_t renew_at;     /* test knob: bytes of the aggregate from which it is made anew, 0 = the default */
};

struct collector_totals {
	uint64_t taken, stored, lost, queue_bytes;
	uint64_t open;         /* taken, and neither stored nor lost yet: runs that go on */
	uint64_t outside;      /* the window; not in LOST */
};
/* The same of each event. */
struct collector_event_totals {
	uint64_t taken, stored, open;
	uint64_t value;        /* of the stored */
	uint64_t lost[LOSS_REASONS];
};

/* What the aggregate keeps, by structure, in bytes. */
enum {
	COLLECTOR_HELD = 1 /* traces */
#define RENEWED(kind, field, name) +1
#define LASTING(kind, field, name) +1
#include "agent/collect/held.def"
};

#endif
