/*
 * ticker.h - a thread of the engine that gives all threads a tick once an interval. Inner header of the sources room.
 *
 * Rounds begin when the JVM's threads are known, go on until ticker_end, and can be interrupted by a wish for what
 * was gathered so far. The thread is one of jstrobe's own: not attached to the JVM, never sampled.
 */
#ifndef JSTROBE_SOURCES_TICKER_H
#define JSTROBE_SOURCES_TICKER_H

#include <pthread.h>

#include "agent/zone/zone.h"
#include "common/base/error.h"

struct ticker {
	const char *name;    /* of the thread */
	bool scattered;      /* at a random moment of each interval, else at its begin */
	/* Rounds begin at NOW: time before does not count. */
	void (*open)(uint64_t now);
	/* One round; LATE whole intervals before it passed without one. */
	void (*tick)(uint32_t late);
	/* What was gathered so far shall go out; may be NULL. */
	void (*flush)(void);
	/* The thread ends; may be NULL. */
	void (*leave)(void);
	uint32_t event;              /* set by ticker_begin */
	struct thread_record *self;  /* of the thread; its queue is not used */

	/* ticker.c's own */
	pthread_t thread;
	bool running;
	atomic_bool ending, alive;
	_Atomic uint64_t asked, done; /* wishes */
};

/* Begin R's thread for EVENT, whose interval the zone knows. -EBUSY: the one before has not ended. */
int ticker_begin(struct ticker *r, uint32_t event, struct error *err);
/* End it, if it runs; when this returns it is gone, or did not end in OWN_THREAD_PATIENCE. No lock held. */
void ticker_end(struct ticker *r);
/* For all that run: */
void ticker_known(void);
void ticker_flush(void);

/*
 * A sample of R is asked for by a signal: at NOW, EXPECTED to be in that state. The record is held. A question
 * that was not answered must not be followed by another: see tick_is_open.
 */
void tick_ask(struct thread_record *r, uint32_t event, enum thread_state expected, uint64_t now);
/* Whether R has not answered yet; then this tick is missed, and the signal goes out once more, in case it was lost. */
bool tick_is_open(struct thread_record *r, uint32_t event);
/* COUNT ticks of EVENT are missed. */
void tick_miss(uint32_t event, enum loss_reason why, uint64_t count);
/* COUNT ticks of EVENT were due. */
void tick_due(uint32_t event, uint64_t count);
/*
 * Where all of THREADS get a signal each tick, each does only every so many ticks: signals that wake may take a quarter
 * of a core.
 */
uint32_t tick_stride(uint32_t event, uint64_t threads);
/* R is not given ticks any more: a question that is open stays so. */
void tick_close(struct thread_record *r, uint32_t event);
/* Begin to hold R, so that it is not closed meanwhile; false: it is not sampled (any more), and not held. */
bool tick_hold(struct thread_record *r, uint32_t event);
void tick_let_go(uint32_t event);

#endif
