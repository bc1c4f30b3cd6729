/*
 * wall.h - the table of threads that the wall-clock engine goes through each tick. Inner header of the sources room.
 *
 * Most threads wait, and nothing is written for a thread that has not moved: its samples are the ticks that
 * passed, and are counted when it moves on. What each tick reads of it is one word here, which says where to look,
 * and what lies there.
 */
#ifndef JSTROBE_SOURCES_WALL_WALL_H
#define JSTROBE_SOURCES_WALL_WALL_H

#include "agent/sources/ticker.h"
#include "agent/sources/wall/marker.h"
#include "agent/zone/load.h"
#include "common/base/wide.h"

/* FREE ──(armed)──▶ ON ──(disarmed, ended)──▶ GONE ──(the engine's thread has counted it out)──▶ FREE */
enum wall_life { WALL_FREE, WALL_ON, WALL_GONE };

/*
 * What proves that a thread has not run since its stack was read (wall_is_unmoved). The clock and the words serve
 * everywhere. A thread that can be marked is MARKER once its clock has shown that it was marked in its sleep.
 */
enum wall_proof {
	WALL_NONE,   /* nothing does: it is looked at, unless it was sent a signal and has not answered */
	WALL_CLOCK,  /* its CPU clock */
	WALL_WORDS,  /* its last Java frame, its state, and the words of its stack (wall_slots.c) */
	WALL_MARKER, /* marker.h */
};

/*
 * The quick check of each tick, where to look: an address and, in its low bits, what lies there. 0 = no thread.
 * Each thread's proof is asked once in wall.rotation ticks; besides, where the quick check fails, and as said here.
 * Written by the engine's thread; by others only together with wall_thread.life.
 */
enum wall_watch {
	WATCH_MARKER, /* the marker's field: it is the proof */
	WATCH_WAIT,   /* the condition variable it waits on: wall.expected */
	WATCH_FRAME,  /* its last Java frame: wall.expected; the proof in each FRAME_ROTATION ticks */
	WATCH_LATER,  /* nothing before tick wall.expected, then the proof: a clock that stands, one of many */
	WATCH_PROOF,  /* the proof at each tick: for a while after a move, where it is not the marker; a few clocks */
	WATCH_KIND = 7,
};
#define FRAME_ROTATION 8

struct wall_thread {
	_Atomic uint32_t life;
	uint8_t proof;     /* enum wall_proof */
	uint8_t state;     /* enum thread_state, of the run */
	atomic_bool again; /* its stack is to be read once more, though it stands: written by the collector */
	union {
		uint64_t clock;   /* its CPU clock when its stack was read */
		uintptr_t anchor; /* WORDS: where its last Java frame is noted */
	};
	uint64_t tick;     /* up to here its ticks are in samples, or lost; 0 = it has had none */
	uint64_t moved;    /* the tick in which it was seen to move */
	uint64_t begun;    /* up to here its time has been counted out */
	uint64_t first;    /* of the run's samples that have not been counted out */
	uint64_t last;     /* up to here its time is in samples */
	uint32_t samples;  /* of the run, not counted out yet */
	uint32_t ticks;    /* sent a signal while it waited: how often it had had a CPU; 0 = not that, or not known */
};
_Static_assert(sizeof(struct wall_thread) == 64, "a cache line");

/* The rest, which is read when a thread has moved. */
struct wall_stack {
	const struct stack_trace *trace; /* of the run; NULL = none is open. It is only compared: it may be gone */
	uint64_t vthread;
	struct trace_context trace_context;
	uint32_t generation;       /* of the store */
	uint16_t epoch;
};

/*
 * The words of a stack that say who called whom, and a digest of what they were (wall_slots.c).
 * A whole number of cache lines: most threads that wait need two.
 */
#define WALL_SLOTS 115
struct wall_slots {
	uint64_t digest;
	uint64_t frame;          /* of the last Java frame */
	uint64_t base;           /* the last Java frame's sp */
	uint16_t count;          /* 0: none were noted */
	uint16_t at[WALL_SLOTS]; /* in words from base on */
};
_Static_assert(sizeof(struct wall_slots) == 256, "see above");

/* What was seen of a thread that waits. */
struct wall_sight {
	struct wall_stack stack;
	enum thread_state state;
	uint64_t clock;      /* or the anchor's address */
	uintptr_t field;     /* of its marker, which is set; 0 = it has none */
	enum wall_proof proof;
	uint32_t ticks;      /* as in struct wall_thread, where only the thread itself can tell its stack */
};

/* What the kernel had counted of a thread when it was last found ready to run (wall_ready.c). */
struct wall_ready {
	uint64_t on, ready; /* ns on a CPU, and ready without one; 0: not yet */
	uint64_t weight;    /* of its last sample that found it so */
	int64_t due;        /* weight that samples without a CPU should have besides, or < 0: have too much */
	bool without;       /* that was one */
};

#define WALL_TIMES 2048 /* ticks whose moments are known: more than a run may last */

struct wall {
	_Atomic uintptr_t *watch;    /* RECORD_LIMIT of each, reserved */
	uint64_t *expected;
	uintptr_t *fields;           /* of their markers, 0 = it cannot be marked */
	struct wall_thread *threads;
	struct wall_stack *stacks;
	struct wall_slots *slots;
	struct wall_ready *ready;
	uint64_t times[WALL_TIMES];  /* of tick n: times[n % WALL_TIMES] */
	uint64_t tick;               /* number of this tick, or of the last one; those that passed without one count */
	_Atomic uint64_t counted;    /* ticks up to this one are counted as due */
	uint32_t late;               /* that many before it did */
	uintptr_t refs;              /* of a condition variable: where it counts who waits */
	uint32_t rotation;           /* ticks in which each thread is attended to once (wall_attend) */
	uint32_t count, from, due;   /* all threads; in this tick so many of them, round about from that one on */
	uint32_t event;
	bool marker;                 /* in use */
	bool nobatch;             /* all threads by signals (nobatch) */
	uint32_t on, stride;         /* nobatch: threads that had a tick, and ticks from one signal to the next */
	uint32_t asked;              /* in this tick so many were asked for what the kernel counts of them */
	uint32_t clocked;            /* threads with no proof but their clock at the last tick */
	const struct ticker *ticker; /* of the engine's thread */
};
extern struct wall wall;

/* ---- wall_tick.c ---- */

/* Thread I's tick, when its quick check shows that it moved, or does not show enough. How many ticks were due. */
uint32_t wall_attend(uint32_t i);
/* The same while the window that `begin` and `end` make is shut: no sample, and its time does not count. */
uint32_t wall_leave_out(uint32_t i);
/* What is known of thread I up to tick TICK becomes samples of its run, or is lost. */
void wall_settle(uint32_t i, uint64_t tick);
/* The thread has ended, or is not sampled any more: what is known of it up to TICK goes out. */
void wall_finish(uint32_t i, uint64_t tick);

/* ---- wall_walk.c ---- */

/*
 * Look at R, held: true when it waits and its stack could be read from outside. Else s->state says what to expect
 * of it.
 */
bool wall_look(struct thread_record *r, struct wall_sight *s);
/* Whether thread I has not run since its stack was read, by its proof. */
bool wall_is_unmoved(uint32_t i);

/* ---- wall_ready.c ---- */

/* Whether the sample of R, thread I, which is ready to run, is one in which it has a CPU. The record is held. */
enum record_cpu wall_has_cpu(uint32_t i, const struct thread_record *r);
/* That sample weighs so much. */
void wall_weighs(uint32_t i, uint64_t weight);

/* ---- wall_waits.c ---- */

/* Before a session: how many files may stay open here. */
void wall_waits_open(void);
/* TID's thread has ended: its file, if one is open, is closed. The engine's thread. */
void wall_waits_gone(pid_t tid);
/* As os_thread_waits. The same. */
bool wall_waits(pid_t tid, uintptr_t *sp, uintptr_t *pc);
/* After a session, once that thread has ended. */
void wall_waits_close(void);

/* ---- wall_hint.c ---- */

/* Before a session: what is known of the C library. CONDITIONS: whether its condition variables may be known. */
void wall_hint_open(bool conditions);
/* Thread I has not moved for long: find it a quick check. Returns its watch, 0 = there is none. */
uintptr_t wall_hint(uint32_t i);
/* The condition variable that thread TID waits on, 0 = on none; it may be something else that looks like one. */
uintptr_t wall_condition(pid_t tid);

/* ---- wall_slots.c ---- */

/*
 * Note in S the words of a stack whose last Java frame is at SP, PC, FP and which ends at HIGH (0 = unknown).
 * False: they are too many, or cannot be read.
 */
bool wall_slots_note(struct wall_slots *s, uintptr_t sp, uintptr_t pc, uintptr_t fp, uintptr_t high);
/* Begin to fetch them. */
static inline void wall_slots_fetch(const struct wall_slots *s)
{
	uint32_t i;

	for (i = 0; i < s->count; i += 3)
		__builtin_prefetch((const void *)((uintptr_t)s->base + 8 * (uintptr_t)s->at[i]));
}
/* Whether they are what they were; false also when none were noted. */
bool wall_slots_hold(const struct wall_slots *s);

/* ---- wall_batches.c ---- */

/* Thread I stands as S says at time NOW, in this tick: one more sample. False: no room for it. */
bool wall_stands(uint32_t i, const struct wall_sight *s, uint64_t now);
/* Thread I stood as before in all ticks up to TICK. */
void wall_unmoved(uint32_t i, uint64_t tick);
/* Count thread I's run out, as far as it goes. False: no room. */
bool wall_count_out(uint32_t i);

/* ---- quick checks, which are many ---- */

/* A word for A and B, each bit of which changes half of its bits. */
static inline uint64_t wall_mix(uint64_t a, uint64_t b)
{
	return wide_fold(a ^ 0x9e3779b97f4a7c15ull, b ^ 0xbf58476d1ce4e5b9ull);
}

static inline uint64_t wall_frame_of(uintptr_t sp, uintptr_t pc, uintptr_t fp)
{
	return wall_mix(wall_mix(sp, pc), fp) | 1;
}

/* The last Java frame noted at ANCHOR; 0 = there is none. */
static inline uint64_t wall_frame(uintptr_t anchor)
{
	const struct layout *l = &zone.layout;
	uintptr_t sp, pc, fp;

	return load_word(anchor + (uintptr_t)l->anchor_sp, &sp) && sp &&
	       load_word(anchor + (uintptr_t)l->anchor_pc, &pc) && load_word(anchor + (uintptr_t)l->anchor_fp, &fp)
		       ? wall_frame_of(sp, pc, fp)
		       : 0;
}

/* Whether thread I is attended to in this tick, whatever its quick check shows. */
static inline bool wall_is_due(uint32_t i)
{
	return (i < wall.from ? i + wall.count : i) - wall.from < wall.due;
}

/* Who began to wait at the condition variable CONDITION, and who does (wall_hint.c); 0 = it cannot be read. */
static inline uint64_t wall_wait(uintptr_t condition)
{
	uintptr_t begun, refs;

	return load_word(condition, &begun) && load_word(condition + wall.refs, &refs) ? wall_mix(begun, refs) | 1 : 0;
}

/* Whether thread I's quick check WHAT shows no move. */
static inline bool wall_check(uint32_t i, uintptr_t what)
{
	uintptr_t place = what & ~(uintptr_t)WATCH_KIND;

	switch (what & WATCH_KIND) {
	case WATCH_MARKER:
		return marker_is_set(place);
	case WATCH_WAIT:
		return wall_wait(place) == wall.expected[i];
	case WATCH_FRAME:
		return wall_frame(place) == wall.expected[i];
	case WATCH_LATER:
		return wall.tick < wall.expected[i];
	default:
		return false;
	}
}

#endif
