/*
 * thread_hook.h - new threads are met at their first instruction, and at their end. Normal code.
 */
#ifndef JSTROBE_THREADS_THREAD_HOOK_H
#define JSTROBE_THREADS_THREAD_HOOK_H

#include "agent/zone/zone.h"

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

#endif
