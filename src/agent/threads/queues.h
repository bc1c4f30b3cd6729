/*
 * queues.h - the memory of threads' queues (agent/zone/queue.h).
 *
 * The first queue of a record has its place beside the record, and is used again with it: a thread that begins
 * allocates nothing, in the program's heap least of all, where what short threads left behind would make holes. A
 * bigger one has pages of its own.
 */
#ifndef JSTROBE_THREADS_QUEUES_H
#define JSTROBE_THREADS_QUEUES_H

#include "agent/zone/queue.h"

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
