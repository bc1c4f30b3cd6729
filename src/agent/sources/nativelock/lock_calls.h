/*
 * lock_calls.h - the functions of libc that wait for a lock, replaced in the images of the process while a session has
 * the event (hooked_calls.h). Any thread in normal code.
 */
#ifndef AGENT_SOURCES_NATIVELOCK_LOCK_CALLS_H
#define AGENT_SOURCES_NATIVELOCK_LOCK_CALLS_H

#include "common/base/base.h"

/* Replace those of locks, and, WITH_IDLE, of conditions and semaphores. False: another copy is at it. */
bool lock_calls_install(bool with_idle);
void lock_calls_refresh(void);
void lock_calls_remove(void);

#endif
