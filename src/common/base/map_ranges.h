/*
 * map_ranges.h - which addresses are mapped, and whose each of them is: ranges that do not overlap, in order. What
 * comes to lie over others takes their place; what is taken away may be any part of any of them.
 *
 * Not for more than one thread at a time. Memory: 40 bytes for each range, up to MAP_RANGES_LIMIT of them (the kernel's
 * own limit is 65,530 unless a machine is set up otherwise).
 */
#ifndef JSTROBE_BASE_MAP_RANGES_H
#define JSTROBE_BASE_MAP_RANGES_H

#include "common/base/base.h"

#define MAP_RANGES_LIMIT 131072u

struct map_range {
	uint64_t start, end;
	uint64_t time;  /* since when */
	uint32_t owner; /* of the collector */
	bool reserved;  /* it cannot be resident, and has no owner */
};

struct map_ranges {
	struct map_range *items;
	size_t count, capacity;
};

/* What of RANGES lies in START to END - 1 goes; FN, unless NULL, of each such piece. False: no memory, all stays. */
typedef void map_range_fn(const struct map_range *r, void *arg);
bool map_ranges_cut(struct map_ranges *ranges, uint64_t start, uint64_t end, map_range_fn *fn, void *arg);
/* R comes; nothing may lie there (map_ranges_cut). False: no memory, or too many. */
bool map_ranges_add(struct map_ranges *ranges, const struct map_range *r);
void map_ranges_free(struct map_ranges *ranges);

#endif
