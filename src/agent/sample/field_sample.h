/*
 * field_sample.h - a thread takes its own sample in normal code, with what its event says besides (events.def).
 *
 * As with waits (wait_sample.h) its last Java frame is noted in its JavaThread, and the walk begins there.
 */
#ifndef JSTROBE_SAMPLE_FIELD_SAMPLE_H
#define JSTROBE_SAMPLE_FIELD_SAMPLE_H

#include "agent/sample/wait_sample.h"

/*
 * The running thread's record, entered, until wait_leave; NULL: EVENT is not sampled on this thread (any more), or a
 * sample of WEIGHT is counted as lost.
 */
struct thread_record *field_sample_enter(uint32_t event, uint64_t weight);
/* Whether EVENT is not sampled on the running thread, as far as that is known before its record is entered. */
bool field_sample_leaves_out(uint32_t event);
/*
 * R, entered, takes a sample of EVENT that began at TIME (CLOCK_MONOTONIC), of WEIGHT: stored with FIELDS
 * behind it, or lost for a reason that is counted.
 */
void field_sample_take(struct thread_record *r, uint32_t event, uint64_t time, uint64_t weight,
		       const struct field_note *fields);
/*
 * The same of an event without fields; the stack is without the OWN innermost Java frames, which are ours.
 */
void field_sample_take_below(struct thread_record *r, uint32_t event, uint64_t time, uint64_t weight, uint32_t own);
/* As the next one; what takes the sample began at SINCE. */
bool field_sample_take_since(struct thread_record *r, uint32_t event, uint64_t time, uint64_t since, uint64_t weight,
			     const struct field_note *fields, const struct walk_caller *from);
/* The same, with the stack from the caller FROM on, native frames too; NULL: as above. False: it is lost. */
bool field_sample_take_from(struct thread_record *r, uint32_t event, uint64_t time, uint64_t weight,
			    const struct field_note *fields, const struct walk_caller *from);

#endif
