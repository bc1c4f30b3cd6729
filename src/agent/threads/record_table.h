/*
 * record_table.h - free places in the table of thread records, and memory for their queues. For records.c, whose lock
 * is held at each call but records_open (records.h).
 */
#ifndef JSTROBE_THREADS_RECORD_TABLE_H
#define JSTROBE_THREADS_RECORD_TABLE_H

#include "agent/threads/records.h"
#include "agent/zone/queue.h"

/* Set by records_open(). */
extern const struct records_sources *record_sources;

/* A FREE record, taken once its state says so; NULL when the table is full or the system refuses memory. */
struct thread_record *record_table_unused(void);
/* Record INDEX is FREE (again). */
void record_table_freed(uint32_t index);
/*
 * When there have been fewer records for a while than there were once (NOW: os_monotonic), the last ones are not used
 * any more, from the one that is returned on; 0 = all are wanted. When no thread can be inside them any more: their
 * memory goes back, as far as they have not been taken into use again.
 */
uint32_t record_table_shrink(uint64_t now);
void record_table_trim(uint32_t from);
/* The piece of the stack store for R, which gets another thread: its own one, or one that a trimmed record had. */
struct stack_chunk record_table_chunk(const struct thread_record *r);
/* No record is in use any more: their memory goes back to the system, the addresses stay readable. */
void record_table_release(void);

/* The memory of threads' queues (agent/zone/queue.h). */

#define QUEUES_GROUP 64u /* records whose queues' memory comes and goes together */

/* The first queue of record INDEX, empty; NULL = no memory. Records' lock held. */
struct queue *queues_first(uint32_t index, uint32_t capacity);
/* A bigger one, for any record; NULL = no memory. */
struct queue *queues_bigger(uint32_t capacity);
/* Record INDEX needs Q no more; it may be NULL. No thread writes or reads it. */
void queues_free(uint32_t index, struct queue *q);
/* No thread uses the first queues of the records FROM to END - 1, multiples of QUEUES_GROUP. Records' lock held. */
void queues_release(uint32_t from, uint32_t end);

#endif
