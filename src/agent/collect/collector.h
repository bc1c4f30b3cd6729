/*
 * collector.h - the door of the collect room: the thread that empties the queues,
 * names what is in them and keeps the aggregate.
 *
 * The collector is a thread of jstrobe, never attached to the JVM: it makes no JNI or JVMTI
 * call, since it would stop in a GC pause just when GC threads are sampled.
 */
#ifndef JSTROBE_COLLECT_COLLECTOR_H
#define JSTROBE_COLLECT_COLLECTOR_H

#include "agent/collect/collector_options.h"
#include "agent/collect/sources.h"
#include "common/base/error.h"
#include "profile/model/profile.h"
#include "profile/writers/metrics.h"

struct collector;

/* What grows while an event is sampled, by the clocks of one moment. */
struct collector_clocks {
	uint64_t time;         /* monotonic; 0: sampling has ended, and nothing grows */
	uint64_t cpu, own, children; /* as in the counts */
	uint64_t counted;      /* events by the kernel's own count, in this run */
};
/* Those of event number E now. */
void collector_read_clocks(const struct collector *c, uint32_t e, struct collector_clocks *clocks);

/* What the agent knows of the session; strings are copied into the profile view by reference. */
struct collector_counts {
	struct collector_clocks clocks; /* as of these counts; a result is told with those of its own moment */
	const char *event, *engine, *main_class, *jdk, *title;
	enum weight_kind weight_kind;
	uint64_t started_at, duration, interval;
	uint64_t counted;      /* events by the kernel's own count */
	uint64_t gap;          /* ns before its begin, since the round before, that are in no result */
	uint64_t cpu_time;     /* ns the process used during the session */
	uint64_t own_cpu;      /* ns of it used by jstrobe's own threads */
	uint64_t children_cpu; /* ns beside it, used by child processes that ended meanwhile; not sampled */
	bool partial;          /* only a part was to be sampled, of some threads or CPUs, or in user mode */
	bool filter_none;      /* the option `filter` let no thread in */
	uint32_t threads_perf, threads_timer, threads_refused, raised, stretched;
	struct profile_window window;
};
/* FACTS are as of CLOCKS now. */
void collector_advance(struct collector_counts *counts, const struct collector_clocks *clocks);

/* An empty aggregate of what SOURCES (kept) sample. NULL when out of memory. */
struct collector *collector_new(const struct collect_sources *sources, const struct collector_options *o);
/*
 * C, which has not started, goes on where OLD has ended, as the rounds of a loop do: waits that go on are of virtual
 * threads that have told their names, and their owners may have ended.
 */
void collector_names_from(struct collector *c, const struct collector *old);
/* Set up what handlers read and write (records must be open). Then collector_stop and collector_release are due. */
int collector_open(struct collector *c, struct error *err);
/* The session begins AT: its samples' times are told from then on, unless it goes on with those of an earlier one. */
void collector_begins(struct collector *c, uint64_t at);
/* Start the draining thread. */
int collector_start(struct collector *c, struct error *err);
/*
 * Drain what is left and end the thread, if there is one (after engine_stop). The aggregate stays. False: a thread of
 * ours is held, as by a debugger, and has not ended for OWN_THREAD_PATIENCE; nothing may be given back, and this can be
 * called again.
 */
bool collector_stop(struct collector *c);
/* Give back records, queues, stack store: no handler can run any more. After collector_stop. */
void collector_release(struct collector *c);
/* One that collector_stop could not end stays. */
void collector_free(struct collector *c);

/* Names that are missing so far are looked up, which takes long at first. Any thread in normal code. */
void collector_name(struct collector *c);

/* Name (Java's, complete) and Thread.getId of thread TID, for the samples it has and will have. */
void collector_name_thread(struct collector *c, int tid, uint64_t java_id, const char *name);

/*
 * A class is about to be redefined or retransformed, or has been: told before zone.epochs.redefinitions
 * grows. NAME with slashes. Any thread in normal code.
 */
void collector_redefined(struct collector *c, const char *class_name);

/* For who asks how it stands: a thread that is held, as by a debugger, may have the lock; then the last answer. */
#define COLLECTOR_SHORT (500 * NS_PER_MS)

void collector_totals(struct collector *c, struct collector_totals *t);
void collector_event_totals(struct collector *c, struct collector_event_totals *t); /* T[RECORD_EVENTS] */

/* Any thread in normal code. */
void collector_held(struct collector *c, struct metrics_held *to); /* TO[COLLECTOR_HELD] */

/*
 * The aggregate of event number E as a profile, once everything queued so far has been drained. The view
 * stays valid until collector_view_free; the collector goes on meanwhile.
 * NULL when out of memory.
 */
struct profile *collector_view(struct collector *c, uint32_t e, const struct collector_counts *counts);
/*
 * The same of COUNT events from number FIRST on, all of one moment, in VIEWS[COUNT]; NULL where memory was short, then
 * it returns false. FACTS: of each, from the first on.
 */
struct collector_cut {
	uint32_t first, count;
	const struct collector_counts *counts;
	bool times; /* with when samples were taken */
};
bool collector_views(struct collector *c, const struct collector_cut *cut, struct profile **views);
void collector_view_free(struct profile *p);

#endif
