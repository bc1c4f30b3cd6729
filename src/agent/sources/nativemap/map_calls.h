/*
 * map_calls.h - the functions that map and unmap memory, replaced in the images of the process while a session has the
 * event (hooked_calls.h). Any thread in normal code.
 */
#ifndef AGENT_SOURCES_NATIVEMAP_MAP_CALLS_H
#define AGENT_SOURCES_NATIVEMAP_MAP_CALLS_H

#include "agent/walk/caller.h"
#include "common/base/base.h"

/* Whole pages that a call has brought. */
struct map_call {
	uint64_t start, end;
	bool accessible; /* else the addresses are only kept from others */
	bool file;       /* what is there comes from a file */
};

/* Who is told. errno is kept by who calls these. */
struct map_told {
	void (*brought)(const struct map_call *call, const struct walk_caller *from);
	/* START to END - 1 is about to go: what `gone` is called with when it has HAPPENED, or has not. */
	uint64_t (*going)(uint64_t start, uint64_t end);
	void (*gone)(uint64_t ticket, bool happened);
};

/* Replace them. False: another copy of this library does not let us. */
bool map_calls_install(const struct map_told *told);
/* Images may have come since. */
void map_calls_refresh(void);
/* Put back what was there. Calls that go on meanwhile pass on. */
void map_calls_remove(void);

#endif
