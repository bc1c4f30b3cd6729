/*
 * force.h - the engine in force, as records.c sees it. Inner header of the engine room.
 */
#ifndef JSTROBE_ENGINE_FORCE_H
#define JSTROBE_ENGINE_FORCE_H

#include "engine/engine.h"

/* Arm R by the engine in force, if one is; counts refusals. Records' lock held. */
void force_arm(struct thread_record *r);
void force_disarm(struct thread_record *r);
const struct engine_options *force_options(void);
/* Call FN for each live record, under the records' lock (records.c). */
void records_each(void (*fn)(struct thread_record *));

#endif
