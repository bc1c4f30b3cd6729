/*
 * aggregate_sums.h - what the aggregate keeps beside stacks: waits by lock and by owner, calls by what they were about.
 * Inner header of the collect room.
 */
#ifndef JSTROBE_COLLECT_AGGREGATE_SUMS_H
#define JSTROBE_COLLECT_AGGREGATE_SUMS_H

#include "common/base/map.h"
#include "common/base/pages.h"
#include "common/base/strings.h"
#include "profile/model/profile.h"

/*
 * Stacks end in the lock's class, and waits are summed up by lock and by owner. The tables are bounded: beyond
 * WAITS_LOCKS the locks of a class are one line, beyond WAITS_OWNERS the owners are; beyond WAITS_HOLDERS stacks of
 * owners are left out.
 */
#define WAITS_LOCKS 16384
#define WAITS_OWNERS 4096
#define WAITS_HOLDERS 4096
#define WAITS_APART 1024 /* the first locks, whose stacks and owners are kept apart */

struct wait_sum {
	uint32_t name;         /* number in frames.strings: of the class, or of the owner; 0 = not known */
	uint64_t identity;     /* of the lock; 0 = several, or not known; of a holder, if it is apart */
	uint8_t kind;          /* enum lock_kind */
	uint32_t node;         /* of a holder: its stack … */
	uint32_t lock;         /* … and number of the class of the locks, as `name` */
	uint32_t thread;       /* … and whose it is, as long as it lives: entry + 1 */
	uint64_t waits, time;  /* recorded ones, and the time they stand for, ns */
	uint64_t longest;      /* ns */
	uint64_t open;         /* of them have not ended when the last result was asked for */
};

/* PAGED */
struct wait_lines {
	struct wait_sum *items;
	size_t count, room;
};

struct waits_sums {
	struct wait_lines locks, owners, holders; /* holders: owners by their stacks, where these were taken */
	struct map by_lock, by_owner, by_holder; /* → index + 1 */
};

#define WAITS_EVENTS 2 /* of waits, in one session */

struct waits_aggregate {
	struct waits_sums sums[WAITS_EVENTS]; /* see aggregate_waits_of */
	struct map leaves;            /* node and frame of a class → node with it */
	struct map java_threads;      /* Thread.getId → tid of a thread of the system */
};

/*
 * A line is found by the number that the source has given to a name, which it has until the session's end; the text is
 * kept for longer. Beyond IO_LINES lines what is new stands under its kind.
 *
 * Samples of short calls stand for others, so what a line says of these is an estimate: its squared standard errors
 * stand beside. A sample of K moments (agent/sources/timed_calls.h) of which each stands for X adds K X^2. What all
 * calls of an operation are is counted by the source.
 */
#define IO_LINES 8192u
#define IO_PARTS 1024u /* of a call */

struct io_sum {
	uint32_t text;      /* number in io_sums.texts; 0: others of this kind */
	uint8_t operation;  /* enum io_operation */
	uint8_t kind;       /* enum io_kind */
	uint64_t calls;     /* that have ended, in parts of 1 / IO_PARTS */
	uint64_t bytes;
	uint64_t time, idle; /* ns; idle: until a client wanted something, beside `time` */
	uint64_t longest;   /* ns, of a sample */
	double calls_error, bytes_error, time_error, idle_error; /* squared */
};

struct io_sums {
	PAGED(struct io_sum) lines;
	struct strings texts;
	struct map by_key;  /* name, operation and kind → index + 1 */
	/* by operation, as the source has them: when sampling began or went on, and what was counted before that */
	struct profile_io_counted since[IO_OPERATIONS], before[IO_OPERATIONS];
};

#endif
