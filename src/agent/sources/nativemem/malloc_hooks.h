/*
 * malloc_hooks.h - the functions that allocate and free, replaced in the images of the process while a session has the
 * event (hooked_calls.h). Any thread in normal code.
 */
#ifndef AGENT_SOURCES_NATIVEMEM_MALLOC_HOOKS_H
#define AGENT_SOURCES_NATIVEMEM_MALLOC_HOOKS_H

#include "agent/sources/nativemem/draw.h"
#include "agent/walk/caller.h"

/*
 * The block at ADDRESS of SIZE bytes is a sample; S is the running thread's stream, whose next distance is drawn
 * already. errno is kept by who calls this.
 */
typedef void malloc_sampled_fn(void *address, size_t size, struct draw_stream *s, const struct walk_caller *from);

/* Replace them; samples go to FN. False: another copy of this library does not let us. */
bool malloc_hooks_install(malloc_sampled_fn *fn);
/* Images may have come since. Not while another copy of this library changes slots: then the next time. */
void malloc_hooks_refresh(void);
/* Put back what was there. Calls that go on meanwhile pass on. */
void malloc_hooks_remove(void);

#endif
