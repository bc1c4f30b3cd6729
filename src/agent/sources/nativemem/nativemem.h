/*
 * nativemem.h - what the collector is told of native memory. Inner header of the sources room.
 */
#ifndef AGENT_SOURCES_NATIVEMEM_NATIVEMEM_H
#define AGENT_SOURCES_NATIVEMEM_NATIVEMEM_H

#include "agent/zone/queue.h"

/* A sample of event E, with N behind it, has gone to OWNER, the number of a sum + 1. Collector. */
void nativemem_stored(uint32_t e, const struct field_note *n, uint32_t owner);

#endif
