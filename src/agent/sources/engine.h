/*
 * engine.h - the door of the sources room: what makes a thread's signal go off,
 * and the life of thread records.
 *
 * A session samples one event or several, each by an engine. Records are found by the pthread_create hook
 * (new threads, on themselves), by JVMTI events (Java threads) and by /proc/self/task (at
 * start and each second, as the net). Functions lock by themselves; normal code only.
 */
#ifndef JSTROBE_SOURCES_ENGINE_H
#define JSTROBE_SOURCES_ENGINE_H

#include "agent/sample/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/os/os.h"

struct engine_ops;

/* An event as a session samples it. */
struct engine_event {
	char name[256];       /* as asked, without its interval */
	const struct engine_ops *ops;
	uint64_t interval;    /* ns of CPU time, or events */
	bool time;            /* weights are ns of CPU time, or of wall time if so; else events */
	bool kernel_only;     /* nothing of it happens in user mode */
	enum turns turns;     /* of an engine that asks for each sample */
	bool waits;           /* samples are of threads that have waited, with what they waited for */
	bool fallback;        /* a thread that gets no perf event gets a CPU timer */
	enum window_role role; /* it brings no samples, but opens or shuts the window */
	struct os_perf perf;  /* for engine_perf; path and filter are set from those below */
	char path[256], filter[256];
};

/*
 * What NAME stands for (events.def, or spelled out: docs/events.md), with INTERVAL, or its own
 * "@N", or its default (0). -EINVAL, -ENOENT, -ENODEV, -EACCES with cause and remedy.
 */
int event_resolve(const char *name, uint64_t interval, struct engine_event *event, struct error *err);
/* All events and kinds of events, one a line, and whether this process may sample them. */
void event_list(struct buffer *out);

/*
 * The native functions BEGIN and END ("" = none) as one or two events of a role, which stand behind those of
 * the session (window_breakpoints.c). Their number; -ENOENT, -EINVAL.
 */
int window_resolve(const char *begin, const char *end, struct engine_event *events, struct error *err);

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
	bool one_by_one;      /* wall: a signal for each thread and turn */
	bool parked;          /* wall: virtual threads that are parked, too */
	char wall_mode[8];    /* "marker", "slots", or "" = what works */
	char fail[32];        /* knob for tests: what shall refuse ("perf", "ring", "fd", "marker" …); "" = none */
};

/* What arms a sample. One constant a file; see engine_by_event. */
struct engine_ops {
	const char *name;  /* "perf", "ctimer", "itimer", "wall" */
	const char *(*way)(void); /* how it goes about it here, added to the name; may be NULL */
	/* What its signal is handled by, and whether it must be SIGPROF. */
	void (*handler)(int signo, siginfo_t *info, void *context);
	bool sigprof;
	/* Check permissions for event number E, which may be changed to what is permitted. NOTES gets what a
	 * person should read. */
	int (*start)(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err);
	/* What is of the whole process begins, all live threads being armed; may be NULL. 0, or negative errno. */
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
	/* Let no further signal come; handlers may still be at work. */
	void (*silence)(struct thread_record *r, uint32_t e);
	/* Whether R, silenced, has samples to take yet; may be NULL. Records' lock held. */
	bool (*has_rest)(const struct thread_record *r, uint32_t e);
	/* When all handlers are out; may be NULL. */
	void (*stop)(void);
	/* What it keeps of the records FROM to END - 1 is not wanted, they are of no thread. May be NULL. */
	void (*trimmed)(uint32_t from, uint32_t end);
};

extern const struct engine_ops engine_perf, engine_ctimer, engine_itimer, engine_wall, engine_periodic, engine_lock;

/* Start sampling O's events on all threads of the process. -EBUSY: it runs. Undoes itself on failure. */
int engine_start(const struct engine_options *o, struct buffer *notes, struct error *err);
/* Nothing comes due any more from here on. What is due is not all taken yet: engine_stop sees to that. */
void engine_halt(void);
/*
 * Monotonic time, CPU time of the process, and of it that of jstrobe's threads: now, or, from engine_halt until
 * engine_clocks_go, at the halt. What is used after it is of no sample.
 */
struct engine_clocks {
	uint64_t time, cpu, own;
};
struct engine_clocks engine_clocks(void);
/* A session begins: before the first who asks, and engine_start. */
void engine_clocks_go(void);
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
/* Whether a stop, or a start that failed, left a handler behind: engine_settle comes first. */
bool engine_is_held(void);
/* The JVM's threads are known as such by now: turns may begin. */
void engine_threads_known(void);
/* What was sampled so far is on its way to the collector: open runs are counted out. Takes no lock of records. */
void engine_flush(void);
/* Turns of event E that were due and are no samples yet, nor lost: of runs that go on, and asked for. Any thread. */
uint64_t engine_open_turns(uint32_t e);
/*
 * Of thread INDEX a stack was seen whose names could not be proved at the time. It may stand there for ever: look at it
 * again soon. Collector.
 */
void engine_look_again(uint32_t index);
/* Whether the engine has something of R that has not gone to the collector yet. Collector. */
bool engine_keeps(const struct thread_record *r);
/* "perf", "perf+ctimer" …: what armed the live threads for event E of the session, or of the last one. */
const char *engine_in_force(uint32_t e);

struct engine_counts {
	uint32_t threads, perf, timer;
	uint32_t refused;     /* live threads that could not be armed */
	uint32_t raised;      /* times a thread's interval was doubled in a storm of events */
	uint32_t stretched;   /* a thread was asked by a signal every so many turns, at most; 0 = every one */
	uint64_t counted;     /* events by the kernel's own count since engine_start; 0 for CPU engines */
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
 * Perf descriptors that a command with more rights opens for us (perf_transfer.c). OFFER: SOCK, where they can be
 * asked for (PERF in common/control/messages.def), is taken over for the next session that wants it, -1 = none. BEGIN
 * before engine_start; END when frames have their names, those of the kernel come that way too. One thread at a time.
 */
void transfer_offer(int sock);
int transfer_begin(bool wanted, struct error *err);
void transfer_end(void);
/*
 * What a person should know of the threads that got less than others since the last call: a line
 * for each reason that is new in this session.
 */
void engine_notes(struct buffer *notes);

/* ---- records (records.c; records_open: record_table.c) ---- */

int records_open(struct error *err);
/* A thread was found: record and arm it, unless known. TCB 0 = not known. Returns its record or NULL. */
struct thread_record *records_found(pid_t tid, uintptr_t tcb);
/* The same for a thread that began after AFTER (os_monotonic): an earlier record of its tid is another's. */
struct thread_record *records_begun(pid_t tid, uintptr_t tcb, uint64_t after);
/* The record of thread TID, or NULL. */
struct thread_record *records_by_tid(pid_t tid);
/* Arm thread TID for what it is not armed for yet, if it is known. */
void records_arm(pid_t tid);
/* TID is (OWN) or is no longer a thread of jstrobe: such are never sampled. At most RECORDS_OWN at a time. */
#define RECORDS_OWN 16
void records_own(pid_t tid, bool own);
/* jstrobe's own threads: their number; TIDS has room for RECORDS_OWN. Any thread, no lock. */
unsigned records_own_list(pid_t *tids);
/* CPU time of jstrobe's own threads in this process so far, ns. */
uint64_t records_own_cpu(void);
/* The running thread ends: disarm it, hand its record to the collector. */
void records_ending(struct thread_record *r);
/* Look at /proc/self/task: find new threads, close records of ended ones. Collector, now and then. */
void records_scan(void);
/* Whether as many threads are known as this process has. Collector. */
bool records_are_all(void);
/* What a known thread was refused it may get now; breakpoints that rest begin again. Collector, each second. */
void records_arm_again(void);
/* The Java thread of TID: THREAD is its JavaThread*, ID its Thread.getId (0 = not known); both 0 = it has ended. */
void records_java(pid_t tid, uintptr_t thread, uint64_t id);
/* Whether thread TID is sampled, said by one who knows more than engine_options.wanted could. */
void records_judge(pid_t tid, bool wanted);
/* R (CLOSING) was drained: make it FREE. Collector. */
void records_free(struct thread_record *r);
/*
 * What was used by many more threads than there have been for a while goes back. The collector, each second; NOW:
 * os_monotonic.
 */
void records_shrink(uint64_t now);
/* Free all records and their queues, after engine_stop and the last drain. */
void records_release(void);

/* ---- hooks ---- */

/*
 * Replace pthread_create in the GOT of all images. Where another copy of this library keeps us from it,
 * thread_hook_retry comes back to it.
 */
void thread_hook_install(void);
/* The same for images loaded since, if the hook is in place. Any thread. */
void thread_hook_refresh(void);
/* Once more, if an image was not ready the last time. Each second. */
void thread_hook_retry(void);
/* Put it back. */
void thread_hook_remove(void);
/* Let the running thread's end be told, though it began before the hook. */
void thread_hook_watch(struct thread_record *r);
/*
 * Every GOT slot of SYMBOL that holds one of the COUNT OLDS, or is bound lazily, holds NEW afterwards (got.c); slots of
 * this library and its copies excepted. False: an image is still being loaded, try again.
 */
bool got_patch(const char *symbol, void *const *olds, size_t count, void *new);
/* Undo got_patch in all images that are still there; slots that another tool has taken since stay. */
bool got_restore(const char *symbol, void *new, void *old);

/* Put the fault handler before those of SIGSEGV and SIGBUS; idempotent. */
int faults_install(struct error *err);
/*
 * A library that had put its own handler in place before us may have put back what was there before that, without
 * asking: then ours goes in front again. A third one's handler is left alone, it may pass on to ours. Where that is
 * not known, the kernel makes our loads (agent/walk/fault.h). Each drain.
 */
void faults_keep(void);
/* Put theirs back, unless ours was replaced meanwhile. */
void faults_remove(void);

#endif
