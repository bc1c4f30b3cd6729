/*
 * aggregate.h - what is done with the aggregate: samples are added, sums made, losses counted. Inner header of the
 * collect room.
 */
#ifndef JSTROBE_COLLECT_AGGREGATE_H
#define JSTROBE_COLLECT_AGGREGATE_H

#include "agent/collect/collector_state.h"

struct collector_counts;
struct collector_cut;
struct profile;
struct run_note;
struct sample;
struct sink_event;
struct thread_record;
struct trace_context;
struct wait_note;

/* Store one sample in the aggregate; its thread worked for TRACE_CONTEXT, NULL = not known. Lock held. */
void aggregate_sample(struct collector *c, const struct sample *s, const struct trace_context *trace_context,
		    struct thread_record *r);
/* The same for a sample with fields (aggregate_fields.c). */
void aggregate_fields(struct collector *c, const struct sample *s, const struct field_note *n,
		      const struct trace_context *trace_context, struct thread_record *r);
/* The longest interval that samples of E had, whose interval follows a rate; 0: it did not vary. */
uint64_t aggregate_fields_interval_most(const struct collector *c, uint32_t e);
/* T gets what E, with fields, says of objects, if its event is of some. */
void aggregate_fields_objects(const struct collector *c, const struct sink_event *e, struct stack_count *t);
/* Whether event E is of calls that read, write and the like: fields as in common/words/io_fields.h. */
bool aggregate_is_io(const struct collector *c, uint32_t e);
/* The innermost frame of E in results: a class, or what a call was about. FRAMES_NO_MEMORY: none. */
uint32_t aggregate_leaf_frame(struct collector *c, const struct sink_event *e);
/* The node of E, with fields, that ends in it; 0 = out of memory. Lock held. */
uint32_t aggregate_fields_shown(struct collector *c, const struct sink_event *e);
/* The node that results show for E: with what it was about on top; 0 = out of memory. Lock held. */
uint32_t aggregate_shown(struct collector *c, const struct sink_event *e);
/*
 * Where S, a sample of R with notes, counts: its stack, thread and name go into E, which has all that the notes say.
 * NULL: out of memory, S is lost. Lock held.
 */
struct stack_count *aggregate_noted(struct collector *c, const struct sample *s, struct thread_record *r,
				    struct sink_event *e);
/* The same for one that no handler took. False: it is none, or lost. Lock held. */
bool aggregate_reported(struct collector *c, const struct sample *s, const struct trace_context *trace_context,
		  struct thread_record *r);
/* The number of R (index + 1), 0 = none, or they are not kept apart; and together with a thread. Lock held. */
uint32_t aggregate_trace_context(struct collector *c, const struct trace_context *r);
uint32_t aggregate_trace_context_on(struct collector *c, uint32_t thread, uint32_t trace_context);
/* What the engine read from outside. Lock held. */
void aggregate_run(struct collector *c, const struct run_note *n);
/* The node of S's trace as its names were when S was taken; 0 = out of memory. Lock held. */
uint32_t aggregate_stack(struct collector *c, const struct sample *s);
/* A new node: NODE with FRAME innermost; 0 = out of memory. Lock held. */
uint32_t aggregate_stack_under(struct collector *c, uint32_t node, uint32_t frame);
/* NODE with the frames of CPU and policy that S has of R, where asked for; 0 = out of memory. Lock held. */
uint32_t aggregate_stack_placed(struct collector *c, uint32_t node, const struct sample *s, struct thread_record *r);
/*
 * Entry + 1 of the thread that S belongs to: the virtual thread that was mounted, or R; 0 = out of memory. Lock
 * held.
 */
uint32_t aggregate_thread(struct collector *c, const struct sample *s, struct thread_record *r);
/* Entry + 1 of the OS thread TID, of which something of TIME is told that is no sample. 0: out of memory. Lock held. */
uint32_t aggregate_thread_of(struct collector *c, pid_t tid, uint64_t time);
/*
 * The count of NODE for EVENT, on thread number THREAD - 1, in STATE and of trace context number TRACE_CONTEXT as far
 * as these are kept apart; NULL when out of memory. Lock held.
 */
struct stack_count *aggregate_stack_count(struct collector *c, uint32_t event, uint32_t node, uint32_t thread,
					uint8_t state, uint32_t trace_context);
/* R ends: its losses of all events go to those of the dead. Lock held. */
void aggregate_end(struct collector *c, struct thread_record *r);
/* Losses of event E so far: records alive and dead, and signals without a record. Lock held. */
void aggregate_all_losses(struct collector *c, uint32_t e, struct loss_totals *t);
/* The name that THREAD had at TIME, as far as it was noticed. Lock held. */
uint32_t aggregate_name_at(const struct collector *c, uint32_t thread, uint64_t time);
/* TID's thread has ended: another one may have the number next. Lock held. */
void aggregate_forget_number(struct collector *c, uint64_t tid);
/* A new entry + 1 for TID, which has ended and was called NAME (a number); 0 = out of memory. Lock held. */
uint32_t aggregate_thread_ended(struct collector *c, int tid, uint32_t name);
/* Take the names given since the last call into the aggregate. Lock held. */
void aggregate_names(struct collector *c);
/* Begin counting signals without a record anew; take what was counted into the aggregate. Lock held. */
void aggregate_open(struct collector *c);
void aggregate_close(struct collector *c);
/* A node of DEPTH named frames (leaf first), that no trace has. 0 = out of memory. Lock held. */
uint32_t aggregate_stack_of(struct collector *c, const uint32_t *frames, uint32_t depth, uint8_t end);
/* FRAME at position BCI as the outermost one of NODE, the last one; false without memory: NODE is gone. Lock held. */
bool aggregate_stack_push(struct collector *c, uint32_t node, uint32_t frame, uint32_t bci);
/* The last node is not needed. Lock held. */
void aggregate_stack_forget(struct collector *c);
/* Everything sampled so far is in the aggregate, with names as far as they are found; the lock is held afterwards. */
void collect_all_and_lock(struct collector *c);
/* Add E to the sums of its event and thread and to T; END is that of its stack. Lock held. */
void aggregate_add(struct collector *c, const struct sink_event *e, uint8_t end, struct stack_count *t);
/* The counts of CUT as of one moment, now, into FACTS[CUT->count]. Lock held. */
void collect_counts_now(const struct collector *c, const struct collector_cut *cut, struct collector_counts *counts);
/*
 * What the aggregate holds of event E as a profile, if TIMES with when samples were taken; NULL when out of memory.
 * Lock held.
 */
struct profile *collect_fill_view(struct collector *c, uint32_t e, const struct collector_counts *counts,
				  bool times);

/* Sums in the order of C's (to be freed), all of them 0; NULL without memory. Lock held. */
struct stack_count *aggregate_empty_sums(const struct collector *c);
/* Such sums of what is still there of event E; with how it has grown, if that is wanted: see aggregate_grow. */
struct stack_count *aggregate_live(struct collector *c, uint32_t e, bool growing);
/* What a result P of event E says of what is there besides the sums. */
void aggregate_live_facts(const struct collector *c, uint32_t e, struct profile *p);
/* Look whether more is there than ever; after the LAST drain, too. Lock held. */
void aggregate_peak_look(struct collector *c, bool last);
/* The same of when most was there. */
struct stack_count *aggregate_peak(struct collector *c, uint32_t e);
void aggregate_peak_moved(struct collector *c, const uint32_t *now, size_t count);
void aggregate_peak_forget(struct collector *c);

/*
 * Something of SIZE bytes that is there and stands for WEIGHT was allocated in half HALF of its event's growth_span:
 * stack count number PLACE grows by it. Its growth; NULL: out of memory. Lock held.
 */
struct profile_growth *aggregate_grow(struct collector *c, size_t place, uint64_t weight, bool half);
/* The sums of C have new numbers: NOW, of COUNT, each + 1, 0 = it is gone. Lock held. */
void aggregate_live_moved(struct collector *c, const uint32_t *now, size_t count);

/* ---- waits for locks ---- */

/* A sample of a wait and its notes; TRACE_CONTEXT may be NULL. Collector's lock held. */
void aggregate_wait(struct collector *c, const struct sample *s, const struct wait_note *n,
		  const struct trace_context *trace_context, struct thread_record *r);
/* S, a sample that was taken, is lost for the reason WHY, with its weight. The same. */
void aggregate_lose(struct collector *c, const struct sample *s, enum loss_reason why);
/*
 * What of waits that have not ended is in no sample yet; LATELY: of those that were not reported for a while, for who
 * gets each sample. The same.
 */
void aggregate_open_waits(struct collector *c, bool lately);
/* Waits that are over and found no room in their queue. The same. */
void aggregate_done_waits(struct collector *c);
/* The same, unless that took long and was a moment ago. */
void aggregate_done_lately(struct collector *c);
/* What a result of this moment has: all that is queued, waits that are over, waits that have not ended. The same. */
void aggregate_up_to_now(struct collector *c);
/* Thread TID has Thread.getId JAVA_ID. The same. */
void aggregate_wait_thread(struct collector *c, uint64_t java_id, int tid);
/* The node of E's stack that ends in the lock's class; 0 = out of memory. Add E to the sums. The same. */
uint32_t aggregate_wait_shown(struct collector *c, const struct sink_event *e);
void aggregate_wait_sums(struct collector *c, const struct sink_event *e);
/* The node NODE with FRAME as innermost one; 0 = out of memory. The same. */
uint32_t aggregate_leaf(struct collector *c, uint32_t node, uint32_t frame);
/* The sums of event E, which is of waits. */
struct waits_sums *aggregate_waits_of(struct collector *c, uint32_t e);
/* By what the line L of a lock is found. */
uint64_t aggregate_wait_key(const struct wait_sum *l);
uint64_t aggregate_holder_key(const struct wait_sum *h);
void aggregate_waits_sums_free(struct waits_sums *s);

/* ---- calls that read and write ---- */

/* Sampling begins, or ends: the calls that are counted are of C meanwhile. */
void aggregate_io_open(struct collector *c);
void aggregate_io_close(struct collector *c);
/* Add E, of the event. Collector's lock held. */
void aggregate_io_sum(struct collector *c, const struct sink_event *e);
/* P gets the lines, with their texts behind them, to be freed, if event E is of such calls. False: no memory. */
bool aggregate_io_view(const struct collector *c, uint32_t e, struct profile *p);
void aggregate_io_free(struct io_sums *s);

#endif
