/*
 * recording_state.h - what the parts of a recording share. Inner header of the sinks room.
 */
#ifndef JSTROBE_SINKS_RECORDING_RECORDING_STATE_H
#define JSTROBE_SINKS_RECORDING_RECORDING_STATE_H

#include <pthread.h>

#include "agent/collect/collector_state.h"
#include "agent/collect/sink.h"
#include "agent/sinks/recording/event_list.h"
#include "agent/sinks/recording/recording.h"
#include "agent/sinks/sink_filter.h"
#include "common/hotspot/perf_data.h"

#define RECORDING_SETTING_VALUES 10

struct recording_setting {
	unsigned type, count;
	struct jfr_value values[RECORDING_SETTING_VALUES]; /* texts are its own */
};

struct thread_note {
	uint32_t thread;
	uint64_t time;
	bool end;
	uint64_t address; /* not 0: of a block that it freed; THREAD UINT32_MAX: of none that is known */
	uint64_t size;    /* not 0: so much from there on was unmapped */
};

/* Stored samples of an event. */
struct recording_sums {
	uint64_t samples, weight, complete, ambiguous;
};

/* A thread's key, and the name it stands for. */
struct thread_key {
	uint32_t key, name;
	bool java; /* as one of Java's */
};

/* CPU time of a thread when it was last looked at, ns. */
struct thread_load {
	uint64_t user, system;
	bool known;
};

/* Machine and process as they were when last looked at, see recording_load.c. */
struct load {
	uint64_t at, user, system, machine_busy, machine_all;
	VECTOR(struct thread_load) each; /* by thread */
	uint64_t threads_at;
};

/* The heap as it was when last looked at, see recording_heap.c. */
struct heap_watch {
	struct heap_counters counters;
	uint64_t collections;
	bool known;
};

/* A mark of the program that waits to be written. */
struct mark_note {
	uint64_t time, duration;
	uint64_t vthread;      /* 0: none */
	uint32_t thread;       /* + 1; 0: not known */
	uint32_t type, length;
	size_t data;           /* where its LENGTH bytes are in mark_data */
};

struct recording {
	struct sink sink;
	struct recording_options options;
	pthread_mutex_t lock;  /* everything but the collector's part; taken before the collector's locks */
	struct jfr *jfr;
	int fd;
	struct collector *collector;
	VECTOR(struct recording_setting) settings;
	struct error failed;   /* the first failure; code 0: none */
	struct load load;
	struct heap_watch heap;
	uint64_t began;
	struct recording_clocks clocks;
	struct ring_books *window; /* of a flight recorder: its losses and clocks; NULL: the session's hold */
	struct recording_sums put[RECORD_EVENTS]; /* what was handed over */
	struct recording_sums stored_before[RECORD_EVENTS]; /* of the aggregate, as it began: not in the file */
	struct loss_totals lost_before[RECORD_EVENTS];
	uint64_t threads_known; /* threads found since then are new; collector's lock */

	/* the collector's: with its lock */
	/* (batches: being written; held: waiting for names; these with the recording's lock) */
	struct event_list pending, batch, held;
	VECTOR(struct thread_note) notes, batch_notes;
	VECTOR(struct mark_note) marks; /* what the program has marked since the last second */
	struct buffer mark_data;
	uint64_t marks_lost;   /* since then */
	uint64_t dropped;      /* no memory, or too many were waiting */

	/* what the aggregate's numbers are in the present chunk; 0 = nothing yet */
	VECTOR(uint32_t) stacks;  /* by node */
	VECTOR(uint32_t) methods; /* by named frame */
	VECTOR(struct thread_key) threads; /* by thread */
	struct map vthreads;      /* virtual thread → key */

	uint64_t held_until;      /* names are looked up again then */
	struct loss_totals told[RECORD_EVENTS]; /* losses that are in the file */
	struct shown shown;       /* include and exclude; with both locks */
	struct recording_left_out left_out[RECORD_EVENTS]; /* by them */
	struct recording_books books[RECORD_EVENTS]; /* as of the last flush */
	uint64_t windows;         /* of those that `begin` and `end` make, that are in the file */
	uint64_t samples;         /* written */
	uint32_t chunks;
	uint32_t live_chunk;      /* in which it is said what is known of the heap */
	uint64_t appended;        /* bytes behind ours */
	uint32_t appended_key;    /* of chunks of ours in there, the last one */

	pthread_t thread;
	_Atomic pid_t tid;        /* of it; 0: it has not begun */
	bool running;
	pthread_mutex_t wake_lock;
	pthread_cond_t wake;
	bool stopping, hurry;     /* with wake_lock */
	struct recording_totals totals; /* as last told; the same */
};

/*
 * The keys of thread (of the virtual thread VTHREAD, if that is not 0; by its name NAME, 0 = as it is called now) and
 * stack; 0 = out of memory. Recording's and collector's lock held.
 */
uint32_t recording_thread(struct recording *r, uint32_t thread, uint64_t vthread, uint32_t name);
uint32_t recording_stack(struct recording *r, uint32_t node);
/* Whether a frame of NODE has no name yet. The same. */
bool recording_is_late(const struct recording *r, uint32_t node);
/* A new chunk began: all keys are void. */
void recording_forget_keys(struct recording *r);
/* A new aggregate began in the same chunk: its constants stay, under new numbers. Both locks held. */
void recording_carry_keys(struct recording *r, struct generation *g);

/* Copy E with what it points to; and give back what a copy has of its own. */
void recording_keep(struct sink_event *to, const struct sink_event *e);
void recording_let_go(const struct sink_event *e);
/* Take what the collector has gathered into r->batch. Both locks held. */
void recording_take_over(struct recording *r);
extern const struct sink_ops recording_sink_ops;

/* Its file to OUT: what it has by now. Lock held. */
int recording_copy_file(const struct recording *r, struct buffer *out, struct error *err);
/* Objects that are there now are samples of now. The lock of the collector held. */
void recording_put_survivors(struct recording *r);

/* Windows between two functions that were shut since the last time. Both locks held. */
void recording_put_windows(struct recording *r);
/* What the program has marked (agent/context/marks.h) since the last time. Both locks held. */
void recording_put_marks(struct recording *r, uint64_t now);
/* None waits. */
void recording_forget_marks(struct recording *r);
/* The events at a chunk's begin. The books as they stand, at its end: collector's lock held. */
void recording_put_settings(struct recording *r, uint64_t now);
void recording_put_counters(struct recording *r, uint64_t now);
/*
 * The books of what the aggregate holds, all of which is about to be in the file; and, once that is put, of what was
 * left out and lost. In between frames are named, and the aggregate goes on. Both locks held.
 */
void recording_count_stored(struct recording *r);
void recording_count_rest(struct recording *r);
/* What the aggregate holds as R begins is none of its file's, but for what this has already. */
void recording_count_before(struct recording *r);
/* What was lost since the file was last told, by event and reason. Both locks held. */
void recording_put_losses(struct recording *r, uint64_t now);
/* What is in r->batch; samples whose frames have no name yet wait, unless EVERYTHING is to go. Both locks held. */
void recording_put_batch(struct recording *r, bool everything);

/* One tick: what came in goes into the file; FLUSH: all of it, END: for the last time. Recording's lock held. */
enum urgency { URGENCY_TICK, URGENCY_FLUSH, URGENCY_END };
void recording_write_pending(struct recording *r, enum urgency urgency);
/* The writing thread, and to make it take its tick now, for the last time if STOP. */
void *recording_run(void *recording);
void recording_wake(struct recording *r, bool stop);

/* Events that tell of the machine, the process and its threads (recording_load.c). Recording's lock held. */
void recording_load(struct recording *r, uint64_t now);
void recording_load_free(struct recording *r);
/* Threads have new numbers; and collector's lock held. */
void recording_load_carry(struct recording *r, struct generation *g);
/* And of the Java heap (recording_heap.c). The same. */
void recording_heap(struct recording *r, uint64_t now);

#endif
