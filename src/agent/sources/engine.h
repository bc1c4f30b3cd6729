/*
 * engine.h - the door of the sources room: what makes a thread's signal go off.
 *
 * A session samples one event or several, each by an engine. Functions lock by themselves; normal code only.
 */
#ifndef JSTROBE_SOURCES_ENGINE_H
#define JSTROBE_SOURCES_ENGINE_H

#include "agent/collect/sources.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/os/os.h"
#include "common/words/events.h"

struct engine_ops;
struct records_sources;

/* An event as a session samples it. */
struct engine_event {
	char name[256];       /* as asked, without its interval */
	const struct engine_ops *ops;
	enum weight_kind weight; /* WAIT: samples are of threads that have waited, with what they waited for */
	uint64_t interval;    /* in the weights' unit */
	bool kernel_only;     /* nothing of it happens in user mode */
	enum ticks ticks;     /* of an engine that asks for each sample */
	bool fallback;        /* a thread that gets no perf event gets a CPU timer */
	enum window_role role; /* it brings no samples, but opens or shuts the window */
	struct os_perf perf;  /* for engine_perf; path and filter are set from those below */
	char path[256], filter[256];
};

/*
 * What NAME stands for (events.def, or spelled out: docs/reference/events.md), with INTERVAL, or its own
 * "@N", or its default (0). -EINVAL, -ENOENT, -ENODEV, -EACCES with cause and remedy.
 */
int event_resolve(const char *name, uint64_t interval, struct engine_event *event, struct error *err);
/* E, which asks threads that used CPU time, asks all of them instead: its weights are wall time. */
void event_by_wall(struct engine_event *e);
/* All events and kinds of events, one a line, and whether this process may sample them. */
void event_list(struct buffer *out);

/*
 * The native functions BEGIN and END ("" = none) as one or two events of a role, which stand behind those of
 * the session (window_breakpoints.c). Their number; -ENOENT, -EINVAL.
 */
int window_resolve(const char *begin, const char *end, struct engine_event *events, struct error *err);

/* For records_open(), and for collector_new(). */
extern const struct records_sources engine_records;
extern const struct collect_sources engine_of_collector;

/* All of it is copied by engine_start: nothing here need outlive the call. */
struct engine_options {
	const struct engine_event *events;
	uint32_t count;       /* 1 to RECORD_EVENTS, those with a role at the end */
	uint32_t queue_start; /* entries of a new queue */
	bool (*wanted)(pid_t tid); /* which threads are sampled, NULL = all; any thread may ask */
	bool user_only;       /* events in the kernel do not count */
	uint32_t only_cpu;    /* as in struct os_perf */
	bool window_watched;  /* samples outside the window are kept, too */
	int signal;           /* the one to use, 0 = a free one */
	bool nobatch;         /* wall: a signal for each thread and tick */
	bool vthreads;        /* wall: virtual threads that are parked, too */
	uint32_t rate;        /* alloc, live: samples a second at most, 0 = any number */
	bool collect_first;   /* live: the heap is collected before a result */
	bool nopark, sleep;   /* lock: without LockSupport.park, with Thread.sleep */
	bool nativewait;      /* nativelock: waits for conditions and semaphores, too */
	char wall_mode[8];    /* "marker", "slots", or "" = what works */
	char fail[32];        /* knob for tests: what shall refuse ("perf", "ring", "fd", "marker" …); "" = none */
};

/* What arms a sample. One constant a file; see engine_by_event. */
struct engine_ops {
	const char *name;  /* "perf", "ctimer", "itimer", "wall" */
	const char *(*way)(void); /* how it goes about it here, added to the name; may be NULL */
	/* What the session's signal is handled by, and whether it must be SIGPROF: then so for all events. */
	void (*handler)(int signo, siginfo_t *info, void *context);
	bool sigprof;
	bool java;         /* of a JVM only */
	enum ticks ticks;  /* of its events; see event_by_wall */
	/* Check permissions for event number E, which may be changed to what is permitted. NOTES gets what a
	 * person should read. */
	int (*start)(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err);
	/* SIGPROF's timer, of the whole process, begins, all live threads being armed. 0, or negative errno. */
	int (*begin)(const struct engine_event *event, struct error *err);
	/* Arm thread R (its tid is set) for event E. 0, or negative errno: this thread is not sampled. */
	int (*arm)(struct thread_record *r, uint32_t e);
	/*
	 * Take the thread's source away. R's own handler is not running, or it is this thread; unless AT_WORK: what it
	 * reads must stay then, the source being ARM_LEAVING, until this is called again.
	 */
	void (*disarm)(struct thread_record *r, uint32_t e, bool at_work);
	/* First of all at the end: threads of the engine's own go home. May be NULL; no lock is held. */
	void (*halt)(void);
	/* Let no further signal come; handlers may still be at work. May be NULL: none is sent. */
	void (*silence)(struct thread_record *r, uint32_t e);
	/* Whether R, silenced, has samples to take yet; may be NULL. Records' lock held. */
	bool (*has_rest)(const struct thread_record *r, uint32_t e);
	/* What it has counted of R itself since R was armed for E: in `counted` of engine_count. May be NULL. */
	uint64_t (*counted)(const struct thread_record *r, uint32_t e);
	/* R's JavaThread is about to go away. Records' lock held; may be NULL. */
	void (*java_ends)(struct thread_record *r, uint32_t e);
	/* When all handlers are out; may be NULL. */
	void (*stop)(void);
	/* What it keeps of the records FROM to END - 1 is not wanted, they are of no thread. May be NULL. */
	void (*trimmed)(uint32_t from, uint32_t end);
	/*
	 * What a source hears from the JVM, on attached threads, one at a time; all may be NULL. A session has begun,
	 * perhaps of other events: active_options() has what was asked for. While the JVM starts, the rest comes with
	 * vm_init. NOTES gets what cannot be heard.
	 */
	int (*listen)(struct buffer *notes, struct error *err);
	/* It ends, before engine_stop; GOES_ON: in another one like it. Also when none has followed, or begun. */
	void (*listen_no_more)(bool goes_on);
	void (*look)(bool collect); /* a result is wanted; COLLECT: of a heap that was collected just now. Attached */
	void (*images_changed)(void); /* images came or went, or one is loaded completely; the collector's thread */
	void (*vm_init)(void);  /* the JVM is up */
	void (*vm_death)(void); /* it ends; any thread */
	void (*release)(void);  /* memory that handlers could read goes back, with the records' */
};

/* Each source of events.def has one. */
#define SOURCE_NOW(source) extern const struct engine_ops engine_##source;
#define SOURCE_LATER(source)
#define EVENT(name, when, source, weight, interval, least, help) SOURCE_##when(source)
#include "common/words/events.def"
#undef SOURCE_NOW
#undef SOURCE_LATER

/*
 * All sources: a session listens to the JVM (after engine_start), and no more (before engine_stop); a result is wanted
 * of a session that goes on; images have come or gone; the JVM is up, or ends. See struct engine_ops.
 */
int engine_listen(struct buffer *notes, struct error *err);
void engine_listen_no_more(bool goes_on);
void engine_look(bool collect);
void engine_images_changed(void);
void engine_vm_init(void);
void engine_vm_death(void);
void engine_release(void);

/* Start sampling O's events on all threads of the process. -EBUSY: it runs. Undoes itself on failure. */
int engine_start(const struct engine_options *o, struct buffer *notes, struct error *err);
/* Nothing comes due any more from here on. What is due is not all taken yet: engine_stop sees to that. */
void engine_halt(void);
/*
 * Stop, and engine_halt before if it was not called: threads that run take what is due to them, for at most 50 ms; the
 * rest is counted as lost. No further signal comes, all handlers are out, signal and descriptors are
 * given back. Records stay until records_release, their queues can still be drained.
 * False: a handler did not come out within 2 s (its thread is stopped by a debugger): what
 * handlers read must not be freed.
 */
bool engine_stop(void);
/* After engine_stop returned false: disarm what it left, as soon as the handler is out. False: not yet. */
bool engine_settle(void);
/* The JVM's threads are known as such by now: ticks may begin. */
void engine_threads_known(void);
/* What was sampled so far is on its way to the collector: open runs are counted out. Takes no lock of records. */
void engine_flush(void);
/* Ticks of event E that were due and are no samples yet, nor lost: of runs that go on, and asked for. Any thread. */
uint64_t engine_open_ticks(uint32_t e);
/*
 * Of thread INDEX a stack was seen whose names could not be proved at the time. It may stand there for ever: look at it
 * again soon. Collector.
 */
void engine_look_again(uint32_t index);
/* Whether the engine has something of R that has not gone to the collector yet. Collector. */
bool engine_keeps(const struct thread_record *r);
/* Until an engine starts, engine_active names that of the COUNT events at EXPECTED. Session's thread. */
void engine_expect(const struct engine_event *expected, uint32_t count);
/* "perf", "perf+ctimer" …: what armed the live threads for event E of the session, or of the last one. */
const char *engine_active(uint32_t e);

struct engine_counts {
	uint32_t threads, perf, timer;
	uint32_t refused;     /* live threads that could not be armed */
	uint32_t raised;      /* times a thread's interval was doubled in a storm of events */
	uint32_t stretched;   /* a thread was asked by a signal every so many ticks, at most; 0 = every one */
	uint64_t counted;     /* events by the kernel's own count, or the source's, since engine_start; 0 of times */
};
void engine_count(uint32_t e, struct engine_counts *c);
struct engine_window {
	uint64_t count, total, longest; /* windows so far and their time, ns; an open one as if it were shut now */
	bool open;            /* the last one is, or was when the session stopped */
	uint32_t pauses;      /* of a breakpoint on a thread: begins or ends may have been missed */
};
/* The windows of the session, or of the last one. */
void engine_window(struct engine_window *counts);
/*
 * What a person should know of the threads that got less than others since the last call: a line
 * for each reason that is new in this session.
 */
void engine_notes(struct buffer *notes);

#endif
