/*
 * control_thread.h - the one thread that commands a session, "jstrobe control", and the queue of what it is to do.
 *
 * Starts, stops, dumps and the ends of conversations are jobs in its queue; timers, triggers and the JVM's end are too.
 * It carries them out one after the other, each as a job of its own, and it alone is attached to the JVM for that,
 * only while it works and never before VMInit. It begins when it is first needed and ends when nothing needs it. Before
 * VMInit, when no thread can be attached, the thread that loads the agent takes its place and does the job itself.
 *
 * The thread that asks waits with a limit: a job that does not get on, as the JVM holds the thread up, or a part of
 * ours hangs, is left to itself, and the one who asked is told.
 */
#ifndef JSTROBE_COMMAND_CONTROL_THREAD_H
#define JSTROBE_COMMAND_CONTROL_THREAD_H

#include <sys/types.h>

#include "agent/command/patience.h"
#include "common/base/base.h"
#include "common/base/error.h"

struct control_job {
	const char *name;        /* as people know it: "start"; a constant */
	bool attached;           /* it needs the JVM */
	void (*run)(void *arg);
	void (*drop)(void *arg); /* the job is over, or can never be: ARG is not used any more. NULL = nothing to do */
	bool (*gone)(void *arg); /* whether the one who asked is gone; NULL = cannot be */
	void *arg;
};

#define CONTROL_STALLED (10 * NS_PER_S)

/*
 * Have JOB carried out and wait for it: 0 when it was, whatever came of it; ARG may be read then until control_over. On
 * failure, as when it takes too long (-ETIMEDOUT; it may go on), ARG is no longer the caller's, and ERR says why. Any
 * thread of ours or the JVM's, nothing locked.
 */
struct control_item;
int control_do(const struct control_job *job, struct control_item **item, struct error *err);
/* The caller of control_do has what it wanted. */
void control_over(struct control_item *item);
/* Have JOB carried out some time soon. */
void control_post(const struct control_job *job);
/*
 * Carry out JOB as the last one, before any that wait; the JVM ends. At most as long as LIMITS say. False: it was not
 * done by then. NULL: nothing is to be done. From now on other jobs are refused.
 */
bool control_last(const struct control_job *job, const struct patience_limits *limits);
/* The JVM is ending, or gone: no conversation may touch it. */
bool control_is_last(void);

/* A conversation goes on (HOLD), or has ended: the thread stays as long as one does. */
void control_hold(bool hold);
/* What is to be done at a moment of its own, with no one who asks: a time, a trigger. */
struct control_alarm {
	const char *name;          /* as people know it: "timer"; a constant */
	bool attached;             /* it needs the JVM: nothing comes before VMInit, or once the JVM ends */
	bool (*is_set)(void);      /* it may go off: the thread stays for it. Any thread */
	uint64_t (*left)(void);    /* ns until it goes off, 0 = now, UINT64_MAX = not known. Any thread */
	void (*run)(void *unused); /* as a job of the thread */
};
/* ALARM, a constant, is set: look at it, now and whenever something is new. Begins the thread if need be. */
int control_wake(const struct control_alarm *alarm, struct error *err);
/* The same from a handler of signals, where the thread is known to be there. */
void control_ring(void);

/* A job on this thread, at VMInit and for what is told before it. At most as long as a conversation would wait. */
bool control_begin_job(const char *name);
void control_end_job(void);

/* What is being carried out, and for how long, ns; NULL: nothing. Any thread. */
const char *control_at_work(uint64_t *since);
/* The thread, 0 = it is not there. */
pid_t control_thread_id(void);
/* In a job: the one who asked is gone, or the JVM ends, so its result is of no use. */
bool control_called_off(void);

#endif
