/*
 * deferred.h - the one list of what handlers may still be reading when it is no longer wanted, and the one answer to
 * whether they may. docs/inside/architecture.md, "Freeing", says why this is enough.
 *
 *   take it from where handlers find it ─▶ deferred_free ─▶ collector: quiesce_begin ─▶ quiesced? ─▶ its function runs
 */
#ifndef JSTROBE_THREADS_DEFERRED_H
#define JSTROBE_THREADS_DEFERRED_H

#include <stdbool.h>
#include <stdint.h>

/* Free WHAT. False: not now, once more at the next drain. */
typedef bool deferred_fn(void *what, void *with);

/*
 * FN(WHAT, WITH) is called once no handler can be reading any more what the caller has just unpublished. Any thread in
 * normal code. False: out of memory, it will not be called.
 */
bool deferred_free(deferred_fn *fn, void *what, void *with);
/* Free what can be. The collector, each tick. */
void deferred_drain(void);
/* No handler is inside any more: free all. When the collector has ended. */
void deferred_end(void);

/*
 * A new epoch: handlers that enter from now on see what the caller has stored before. Which others there still are
 * quiesced() says. Any thread in normal code; some microseconds.
 */
uint32_t quiesce_begin(void);
/* No handler is at work that had entered before EPOCH began. */
bool quiesced(uint32_t epoch);
/* Once before handlers run. */
void quiesce_open(void);

#endif
