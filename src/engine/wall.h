/*
 * wall.h - the table of threads that the wall-clock engine goes through each turn. Inner header of the engine room.
 *
 * What each turn reads of a thread that waits is one line of 64 bytes here, and one word of the thread's own.
 */
#ifndef JSTROBE_ENGINE_WALL_H
#define JSTROBE_ENGINE_WALL_H

#include "engine/rounds.h"

/* FREE ──(armed)──▶ ON ──(disarmed, ended)──▶ GONE ──(the engine's thread has counted it out)──▶ FREE */
enum wall_life { WALL_FREE, WALL_ON, WALL_GONE };

/* How the engine's thread knows, at the next turn, whether a thread has moved. */
enum wall_mode {
	WALL_NEW,    /* it does not: look */
	WALL_MARKED, /* marker, and its CPU clock once more */
	WALL_SEALED, /* marker alone */
	WALL_STILL,  /* its last Java frame; state and whole stack in rotation */
	WALL_CLOCK,  /* its CPU clock */
	WALL_ASKED,  /* it was sent a signal */
};

struct wall_thread {
	_Atomic uint32_t life;
	uint8_t mode;
	uint8_t state;     /* enum thread_state, of the run */
	uint8_t wait;      /* CLOCK: turns until the next look */
	uint8_t pause;     /* CLOCK: turns between two looks */
	uintptr_t field;   /* of its marker, 0 = it cannot be marked */
	union {
		uint64_t clock;   /* its CPU clock when its stack was read */
		uintptr_t anchor; /* STILL: where its last Java frame is noted */
	};
	uint64_t begun;    /* up to here its time has been counted out */
	uint64_t first;    /* of the run's samples that have not been counted out */
	uint64_t last;     /* up to here its time is in samples */
	uint32_t samples;  /* of the run, not counted out yet */
	uint32_t pending;  /* CLOCK: turns since the last look */
	uint32_t still;    /* STILL: turns since it moved */
	uint32_t unused;
};

/* The rest, which is read when a thread has moved. */
struct wall_stack {
	const struct trace *trace; /* of the run; NULL = none is open */
	uint64_t context;
	uintptr_t sp, pc, fp; /* STILL: the last Java frame */
	uint16_t era;
};

/* What was seen of a thread that waits. */
struct wall_sight {
	struct wall_stack stack;
	enum thread_state state;
	uint64_t clock;      /* or the anchor's address */
	uintptr_t field;
	enum wall_mode mode; /* for the next turn */
};

struct wall {
	struct wall_thread *threads; /* RECORD_LIMIT of each, reserved */
	struct wall_stack *stacks;
	uint32_t event;
	bool marker;                 /* in use */
	bool one_by_one;             /* all threads by signals (nobatch) */
	uint32_t clocked;            /* threads in mode CLOCK at the last turn */
	const struct rounds *rounds; /* of the engine's thread */
};
extern struct wall wall;

/*
 * Look at R, held, whose line is T: true when it waits and its stack could be read from outside. Else
 * s->state says what to expect of it (wall_look.c).
 */
bool wall_look(struct thread_record *r, const struct wall_thread *t, struct wall_sight *s);
/* Whether thread I, in mode STILL, looks as it did (wall_look.c). */
bool wall_is_still(uint32_t i);

/* Thread I stands as S says at time NOW: one more sample. False: no room for it (wall_runs.c). */
bool wall_stands(uint32_t i, const struct wall_sight *s, uint64_t now);
/* COUNT more samples of thread I's run, the last one at NOW. */
void wall_again(uint32_t i, uint32_t count, uint64_t now);
/* Count thread I's run out, as far as it goes. False: no room. */
bool wall_count_out(uint32_t i);

#endif
