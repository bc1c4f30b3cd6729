/*
 * jvm_counters.c - what the JVM itself counts of its memory, from its performance data: used and committed bytes of
 * heap, metaspace and class space. Collections bring them up to date, allocations do not.
 */
#include <stdio.h>
#include <string.h>

#include "cli/memory/resident.h"

#define SURVIVOR_LEAST 4096
#define WORDS_MORE 4096 /* a heap is whole pages */

static void take(const char *name, uint64_t value, void *arg)
{
	struct memory_counters *c = arg;
	unsigned generation, space;
	int end = 0;

	if (strncmp(name, "sun.gc.", 7) != 0)
		return;
	c->known = true;
	if (sscanf(name, "sun.gc.generation.%u.space.%u.used%n", &generation, &space, &end) == 2 && end && !name[end]) {
		c->heap_used += value;
	} else if (sscanf(name, "sun.gc.generation.%u.capacity%n", &generation, &end) == 1 && end && !name[end]) {
		c->heap_committed += value;
	} else if (sscanf(name, "sun.gc.generation.%u.maxCapacity%n", &generation, &end) == 1 && end && !name[end]) {
		/* G1's share one reservation */
		c->generations_max[0] += value;
		c->generations_max[1] = MAX(c->generations_max[1], value);
	} else if (strcmp(name, "sun.gc.generation.0.space.1.maxCapacity") == 0) {
		c->survivor_max = value;
	} else if (sscanf(name, "sun.gc.collector.%u.invocations%n", &generation, &end) == 1 && end && !name[end]) {
		c->collections += value;
	} else if (strcmp(name, "sun.gc.metaspace.used") == 0) {
		c->metaspace_used = value;
	} else if (strcmp(name, "sun.gc.metaspace.capacity") == 0) {
		c->metaspace_committed = value;
	} else if (strcmp(name, "sun.gc.compressedclassspace.used") == 0) {
		c->class_used = value;
	} else if (strcmp(name, "sun.gc.compressedclassspace.capacity") == 0) {
		c->class_committed = value;
	}
}

/*
 * How large the heap may become. Generations that have a reservation each have survivor spaces, too: their sum. Those
 * of G1 and ZGC are told with all of it each, and with a survivor space of no size, or none. G1's are some words
 * larger.
 */
static uint64_t heap_max(const struct memory_counters *c)
{
	bool shared = c->survivor_max < SURVIVOR_LEAST;

	return c->generations_max[shared] / WORDS_MORE * WORDS_MORE;
}

void memory_read_counters(pid_t pid, const struct process_status *s, struct memory_counters *c)
{
	memset(c, 0, sizeof(*c));
	process_perf_numbers(pid, s, take, c);
	c->heap_max = heap_max(c);
	/* metaspace's are of both parts */
	if (c->metaspace_used >= c->class_used && c->metaspace_committed >= c->class_committed) {
		c->metaspace_used -= c->class_used;
		c->metaspace_committed -= c->class_committed;
	}
}
