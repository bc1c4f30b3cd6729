/*
 * event_resolve.h - the parts of event_resolve.c. Inner header of the sources room.
 */
#ifndef JSTROBE_SOURCES_EVENT_RESOLVE_H
#define JSTROBE_SOURCES_EVENT_RESOLVE_H

#include "agent/sources/engine.h"
#include "common/base/error.h"

/*
 * What NAME, of the form its name says (see event_resolve.c), stands for, into E, whose engine is perf. 0, or a
 * negative errno with cause and remedy (event_places.c).
 */
int event_tracepoint(const char *name, struct engine_event *e, struct error *err);
int event_probe(const char *name, struct engine_event *e, struct error *err);
int event_memory(const char *name, struct engine_event *e, struct error *err);
/* ACCESS (HW_BREAKPOINT_X …) to LENGTH bytes at SYMBOL + OFFSET, a native function or variable. */
int event_breakpoint(const char *symbol, uint64_t offset, uint32_t access, uint64_t length, struct engine_event *e,
		     struct error *err);

#define COUNTER_INTERVAL 1000000 /* of counters that events.def does not know */

/*
 * Where a native function or variable lies.
 * Normal code; may read symbol tables (tens of ms) and take the loader's lock.
 */

/*
 * Address of SYMBOL, as callers are bound to it; "Class::method" stands for a C++ name, "name*"
 * for any that begins so. -ENOENT.
 */
int native_address(const char *symbol, uintptr_t *address, struct error *err);
/* The same as a place in the file it was mapped from. */
int native_place(const char *symbol, char *path, size_t size, uint64_t *offset, struct error *err);

#endif
