/*
 * native_maps.h - what is mapped and by whom, for the collector. Inner header of the sources room; with the collector's
 * lock.
 */
#ifndef AGENT_SOURCES_NATIVEMAP_NATIVE_MAPS_H
#define AGENT_SOURCES_NATIVEMAP_NATIVE_MAPS_H

#include "agent/collect/sources.h"

/* Before all others, once or more: nothing is mapped. False: no memory. */
bool native_maps_open(void);

/* As collect_sources has them: `stored`, `blocks`, `blocks_gather`, `blocks_freed`, `blocks_reserved`. */
void native_maps_stored(const struct field_note *n, uint32_t owner);
void native_maps_each(block_owned_fn *fn, void *arg);
void native_maps_gather(void);
uint64_t native_maps_freed(bool wanted, block_freed_fn *fn, void *arg);
uint64_t native_maps_reserved(void);

#endif
