/*
 * sources.h - what the collector and its sinks ask of the sources of samples, a later room.
 */
#ifndef JSTROBE_COLLECT_SOURCES_H
#define JSTROBE_COLLECT_SOURCES_H

#include "agent/sample/wait_sample.h"
#include "agent/zone/stack_store.h"
#include "agent/zone/thread_record.h"
#include "profile/model/profile.h"

/* Monotonic time, CPU time of the process, and of it that of jstrobe's threads, ns. */
struct source_clocks {
	uint64_t time, cpu, own;
};

/* A park that its carrier does not tell of: S, and, if S is noted, what its thread worked for. */
typedef void parked_told_fn(const struct sample *s, const struct trace_context *trace_context, void *arg);
/*
 * A wait that its thread does not tell of itself: S, taken by the thread of record S->thread, N, and, if S is noted,
 * what its thread worked for.
 */
typedef void waits_told_fn(const struct sample *s, const struct wait_note *n,
			   const struct trace_context *trace_context, void *arg);

/* A sampled block of native memory, or a mapping, that is still there. */
struct block_there {
	uint64_t weight; /* bytes that it stands for */
	uint64_t time;   /* when it was sampled, CLOCK_MONOTONIC ns */
	uint32_t owner;  /* 0: its sample has not come yet */
};
typedef uint32_t block_owned_fn(const struct block_there *b, void *arg);

/*
 * A block at ADDRESS was freed at TIME (CLOCK_MONOTONIC) by the thread of record RECORD - 1, 0: it had none. SIZE: of
 * mappings, so many bytes from there on are gone; 0: it is a block of malloc's.
 */
typedef void block_freed_fn(uint64_t time, uint32_t record, uint64_t address, uint64_t size, void *arg);

/* Objects whose samples count while they are there: so many at a time, each in the place id % SOURCE_OBJECTS. */
#define SOURCE_OBJECTS 65536u

/* One constant: engine_of_collector (sources/engine.h says more of each). With the collector's lock, unless any may. */
struct collect_sources {
	/* What was sampled so far is on its way to the collector. Any thread. */
	void (*flush)(void);
	/* Ticks of event E that were due and are no samples yet, nor lost. Any thread. */
	uint64_t (*open_ticks)(uint32_t e);
	/* Of thread INDEX a stack was seen whose names could not be proved at the time. */
	void (*look_again)(uint32_t index);
	/* Whether something of R has not gone to the collector yet. */
	bool (*keeps)(const struct thread_record *r);
	/* What armed the live threads for event E: "perf+ctimer". Any thread. */
	const char *(*active)(uint32_t e);
	/* Events E by the kernel's own count in this run. Any thread. */
	uint64_t (*counted)(uint32_t e);
	/* Now, or as sampling was halted. Any thread. */
	struct source_clocks (*clocks)(void);
	/* Virtual threads that are parked, and waits that have not ended: FN of each. */
	void (*vthreads_parked_open)(bool lately, parked_told_fn *fn, void *arg);
	void (*waits_open)(bool lately, waits_told_fn *fn, void *arg);
	/* Calls that go on and were not reported for a while: into a queue. The collector, without its lock. */
	void (*calls_open)(void);
	/* Of those that are over and found no room in a queue. */
	void (*parked_done)(parked_told_fn *fn, void *arg);
	void (*waits_done)(waits_told_fn *fn, void *arg);
	/* FN of each trace that is kept for them: what it returns is kept instead. */
	void (*change_kept)(kept_stack_fn *fn, void *arg);
	/* Of an object whose samples count while it is there: how many one stands for, 0 = it is gone; its age. */
	uint64_t (*stands_for)(uint64_t id, uint32_t *age);
	/* The shortest and the longest interval that samples of objects had. */
	void (*object_intervals)(uint64_t *least, uint64_t *most);
	/* Bytes of the heap that were in use after the last collection, 0 = not known. */
	uint64_t (*heap_used)(void);
	/* And bytes that it may have, 0 = not known. */
	uint64_t (*heap_most)(void);
	/* When a collection had ended that a result asked for, CLOCK_MONOTONIC; 0 = none has. */
	uint64_t (*heap_collected)(void);
	/* A sample of event E, with N behind it, has gone to OWNER, the number of a sum (struct stack_count) + 1. */
	void (*stored)(uint32_t e, const struct field_note *n, uint32_t owner);
	/*
	 * FN of each sampled block of native memory, or mapping, of event E that is still there; what it returns is
	 * its owner from now on.
	 */
	void (*blocks)(uint32_t e, block_owned_fn *fn, void *arg);
	/* Bytes of addresses that were reserved in event E, and are still; such memory cannot be resident. */
	uint64_t (*blocks_reserved)(uint32_t e);
	/*
	 * Before queues are emptied; and behind that FN of each block that had been freed then, if that is WANTED: how
	 * many could not be noted.
	 */
	void (*blocks_gather)(void);
	uint64_t (*blocks_freed)(bool wanted, block_freed_fn *fn, void *arg);
	/* Images have come or gone. */
	void (*images_changed)(void);
	/* Of enum io_operation, since the process began, while a session had them; any thread. */
	struct profile_io_counted (*io_counted)(uint32_t operation);
	/* The name of a class, or of what a call was about, by its number; NULL: not known. */
	const char *(*class_name)(uint32_t class);
};

#endif
