/*
 * map_changes.h - what threads do to the process's mappings, in the order in which it counts: a ring that hooks write
 * and the collector reads.
 *
 * A thread that takes a range away has its ticket before the kernel does it, one that brings a range has it
 * afterwards. Until the first is through nothing else gets these addresses: so the tickets of the same addresses are in
 * the order of what happened, and no lock is needed. What has a ticket and is not over yet holds those behind it back,
 * for a second at most: its thread may have left the function some other way.
 *
 * Memory: 512 KB, in use as far as there were changes; it is never given back, as a hook may write at any time.
 */
#ifndef AGENT_SOURCES_NATIVEMAP_MAP_CHANGES_H
#define AGENT_SOURCES_NATIVEMAP_MAP_CHANGES_H

#include "common/base/base.h"

enum map_what {
	MAP_BROUGHT,  /* can be resident */
	MAP_RESERVED, /* cannot: addresses that are kept from others */
	MAP_GONE,
};

struct map_change {
	uint64_t start, end; /* whole pages */
	uint64_t time;       /* CLOCK_MONOTONIC ns */
	enum map_what what;
	uint32_t record;     /* of its thread + 1; 0: it has none */
};

/* Before all others, once or more. False: no memory. */
bool map_changes_open(void);
/* Forget what was not read. */
void map_changes_clear(void);

/* C has its ticket: what to call map_change_end with. 0: there is no room, which is counted. Any context. */
uint64_t map_change_begin(const struct map_change *c);
/* What has ticket TICKET, not 0, is over, and has HAPPENED. Any context. */
void map_change_end(uint64_t ticket, bool happened);

/* The mapping of TICKET belongs to OWNER (not 0) of the collector. The reader. */
void map_change_own(uint64_t ticket, uint32_t owner);
/* Those that are over so far are read next: what they brought is on its way to the collector. */
void map_changes_gather(void);
typedef void map_change_fn(const struct map_change *c, uint32_t owner, void *arg);
/* FN of each that has happened, in order. How many there were besides that found no room. One thread at a time. */
uint64_t map_changes_read(map_change_fn *fn, void *arg);
/* FN of the owner of each that was not read yet: what it returns is its owner then. The reader. */
void map_changes_move(uint32_t (*fn)(uint32_t owner, void *arg), void *arg);

#endif
