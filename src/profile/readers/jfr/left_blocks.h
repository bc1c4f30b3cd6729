/*
 * left_blocks.h - which blocks and mappings of native memory that a recording tells of were not freed in it.
 *
 * All of them are noted first, and what became of them is found by the times they say; of events of one time the order
 * in the file decides. Then each says by its place in the file what is left of it.
 */
#ifndef JSTROBE_READERS_JFR_LEFT_BLOCKS_H
#define JSTROBE_READERS_JFR_LEFT_BLOCKS_H

#include "common/base/map.h"
#include "common/base/vector.h"

struct left_event {
	int64_t time;      /* ns since 1970 */
	uint64_t address;
	uint64_t size;     /* of mappings: whole bytes from there on; 0: a block, whatever its size */
	uint64_t position; /* in the file */
	uint64_t left;     /* bytes of a mapping */
	bool came;         /* else it is gone */
};

struct left_blocks {
	uint32_t tail;     /* what came in the last TAIL thousandths of a percent of the time is left out */
	bool noting;       /* they are noted now */
	bool no_memory;
	VECTOR(struct left_event) events;
	struct map blocks; /* address → event + 1 */
	struct map left;   /* position → event + 1 */
};

/* Note E. */
void left_blocks_note(struct left_blocks *l, const struct left_event *e);
/* All are noted, of a recording from START to END: find what is left. False: no memory. */
bool left_blocks_find(struct left_blocks *l, int64_t start, int64_t end);
/* Of the event at POSITION, which weighs WEIGHT, what is left; 0: nothing. Any thread. */
uint64_t left_blocks_weight(const struct left_blocks *l, uint64_t position, uint64_t weight);
void left_blocks_free(struct left_blocks *l);

#endif
