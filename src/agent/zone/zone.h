/*
 * zone.h - all that a handler can reach: frozen facts, the record table, the
 * stack store. Set up and published by normal code (agent/session/session.c), read by handlers.
 *
 * There is one zone a process; it is never freed, because a handler may look at it
 * for as long as the library is mapped - that is, for ever.
 */
#ifndef JSTROBE_ZONE_ZONE_H
#define JSTROBE_ZONE_ZONE_H

#include <signal.h>
#include <stdatomic.h>

#include "agent/zone/load.h"
#include "agent/zone/method_epoch.h"
#include "agent/zone/thread_record.h"
#include "agent/zone/trace_context.h"
#include "agent/zone/window.h"
#include "common/elf/unwind.h"
#include "common/hotspot/layout.h"
#include "common/hotspot/stubs.h"

#define ZONE_FDS (1u << 20) /* descriptors the table by fd can hold */

struct decode_cache;

/* Whether a thread of the engine asks for each sample, and what its weight is then. */
enum ticks { TICKS_NONE, TICKS_WALL, TICKS_CPU };

/* What a handler must know of an event. */
struct zone_event {
	uint64_t interval; /* ns or events */
	bool quiet;        /* our handler could cause it: switched off while one runs */
	bool scaled;       /* the kernel shares the counter out: counts carry the times to scale them by */
	enum window_role role; /* it brings no samples, but opens or shuts the window */
	enum ticks ticks;
	bool waits;        /* each sample in a queue is followed by a struct wait_note */
	bool user_only;    /* CPU time: of user mode */
	bool varies;       /* its periods do (jitter.h), where a perf event makes them */
};

struct zone {
	struct layout layout;
	bool has_jvm;                           /* layout is valid */
	/*
	 * AsyncGetCallTrace, for a JVM whose stacks cannot be walked (then has_jvm is false); published
	 * behind agct_env, what to add to a JavaThread* to have its JNIEnv*. See walk_agct.c.
	 */
	void (*_Atomic agct)(void *trace, int32_t depth, void *context);
	uintptr_t agct_env;
	_Atomic(const struct image_set *) images;
	_Atomic(const struct stub_set *) stubs;
	_Atomic(struct decode_cache *) cache;
	struct stack_store store;
	struct record_table records;
	_Atomic uint32_t *record_of_fd;         /* zone_fd_word() by descriptor; ZONE_FDS entries, reserved */

	struct trace_context_table trace_contexts;               /* what threads work for */
	struct method_epochs epochs;                       /* what can make a Method* another method */

	/* 1; 0 in a child of fork(), which is left alone (agent/hooks/child.h) */
	const _Atomic uint32_t *parent;
	_Atomic bool enabled;                   /* false: signals count as `disabled` */
	_Atomic bool vm_exiting;                /* true: signals count as `vm_exiting` */
	_Atomic uint32_t epoch;                 /* grows whenever something a handler may read is retired; never 0 */
	_Atomic bool fences;                    /* handlers make the fence that the freeing side cannot ask for */
	uint32_t depth;                         /* frames a trace may have */
	bool stats;                             /* measure walks: sample.payload = ns */
	bool record_cpu;                        /* else sample.payload = number of the CPU */
	struct zone_event events[RECORD_EVENTS];
	uint32_t event_count;
	uint32_t timer_event;                   /* the one that timers stand for */
	uint64_t tick;                          /* ns; the kernel looks only then whether they have expired */
	bool asked;                             /* of one of them threads are asked: it has ticks, or waits */
	bool quiet;                             /* one of them is */
	bool windowed;                          /* one of them has a role */
	int signo;                              /* the signal of the engine in force */
	struct sigaction former;                /* what had that signal before us */

	struct window window __attribute__((aligned(64)));
	/* itimer only: up to where samples have had the process CPU clock; contended, so each on its own line */
	_Atomic uint64_t process_clock __attribute__((aligned(64)));
	/* signals without a record */
	_Atomic uint64_t lost_count[RECORD_EVENTS][LOSS_REASONS] __attribute__((aligned(64)));
	_Atomic uint64_t lost_weight[RECORD_EVENTS][LOSS_REASONS];
	_Atomic uint64_t raised[RECORD_EVENTS]; /* times a thread's interval was doubled in a storm of events */
	_Atomic uint32_t stretched[RECORD_EVENTS]; /* ticks: a thread was asked every so many, at most; 0 = every one */
	_Atomic uint64_t own_weight;            /* ns that fell on threads of jstrobe */
	_Atomic uint64_t due[RECORD_EVENTS];    /* ticks: samples that should be, missed ones too */
	/*
	 * Index + 1 of the record that an event's thread of the engine looks at, 0 = none. Held for one look
	 * (microseconds); a thread that ends waits for it before its JavaThread and its TCB go away.
	 */
	_Atomic uint32_t held[RECORD_EVENTS];
};

extern struct zone zone;

/* Whether this is a child that the profiled process made by fork(). */
static inline bool zone_in_child(void)
{
	return unlikely(!atomic_load_explicit(zone.parent, memory_order_relaxed));
}

/* A sample of EVENT that no record can count is lost: for the process. Any context. */
static inline void zone_lose(uint32_t event, enum loss_reason why, uint64_t weight)
{
	atomic_fetch_add_explicit(&zone.lost_count[event][why], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&zone.lost_weight[event][why], weight, memory_order_relaxed);
}

/*
 * Keep R, of a Java thread, from ending while it is looked at for EVENT, up to zone_let_go(). False: it ends, or
 * another one is looked at. Any thread.
 */
static inline bool zone_hold(const struct thread_record *r, uint32_t event)
{
	struct thread_record *record = (struct thread_record *)r;
	uint32_t none = 0;

	if (!atomic_compare_exchange_strong(&zone.held[event], &none, r->index + 1))
		return false;
	if (atomic_load(&record->state) == RECORD_LIVE && atomic_load(&record->java_thread))
		return true;
	atomic_store(&zone.held[event], 0);
	return false;
}

/*
 * The java tid of the virtual thread that R carries, which differs from its own; 0 = none, or before JDK 24. Any
 * thread.
 */
static inline uint64_t zone_mounted(const struct thread_record *r)
{
	uintptr_t thread = atomic_load_explicit(&((struct thread_record *)r)->java_thread, memory_order_relaxed);
	uintptr_t entry;
	uint64_t owner;

	if (!thread || zone.layout.thread_cont_entry < 0 || zone.layout.thread_owner_id < 0 ||
	    !load_word(thread + (uintptr_t)zone.layout.thread_cont_entry, &entry) || !entry ||
	    !load_u64(thread + (uintptr_t)zone.layout.thread_owner_id, &owner))
		return 0;
	return owner;
}

static inline void zone_let_go(uint32_t event)
{
	atomic_store_explicit(&zone.held[event], 0, memory_order_release);
}

/* What a signal of a tick carries: the record, whose address is a multiple of RECORD_EVENTS, and the event. */
static inline uintptr_t zone_tick_word(const struct thread_record *r, uint32_t event)
{
	return (uintptr_t)r | event;
}
_Static_assert(sizeof(struct thread_record) % RECORD_EVENTS == 0, "see zone_turn_word");

/* Record and event of a descriptor in one word that is never 0. */
static inline uint32_t zone_fd_word(uint32_t record, uint32_t event)
{
	return record * RECORD_EVENTS + event + 1;
}

#endif
