/*
 * force.h - the engine in force, as records.c sees it. Inner header of the engine room.
 */
#ifndef JSTROBE_ENGINE_FORCE_H
#define JSTROBE_ENGINE_FORCE_H

#include "engine/engine.h"

/* Arm R for all events of the session, if one runs; counts refusals. Records' lock held. */
void force_arm(struct thread_record *r);
void force_disarm(struct thread_record *r);
const struct engine_options *force_options(void);
/* Event number E of the session. */
const struct engine_event *force_event(uint32_t e);
/* The kernel counted COUNT of event E on a thread that is disarmed. Records' lock held. */
void force_counted(uint32_t e, uint64_t count);
/* Call FN for each live record, under the records' lock (records.c). */
void records_each(void (*fn)(struct thread_record *));

#endif
