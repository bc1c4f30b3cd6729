/*
 * collections.h - how often the heap was collected, by the JVM's own count: of all collectors, also those that work
 * beside the program.
 */
#ifndef JSTROBE_LIVE_COLLECTIONS_H
#define JSTROBE_LIVE_COLLECTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this JVM tells. Normal code. */
bool collections_open(void);
/* So many so far, in the lower 32 bits. Any thread. */
uint32_t collections_now(void);
/* A collection of the whole heap is about to be asked for. Normal code. */
void collections_ask(void);
/* Bytes of the heap that were in use after the last one; 0: not known (-XX:-UsePerfData). Normal code. */
uint64_t collections_used(void);
/* Bytes that the heap may have; 0: not known. Normal code. */
uint64_t collections_most(void);

#endif
