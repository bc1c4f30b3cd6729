/*
 * spread.h - from single addresses to mappings. Inner header of the folder.
 */
#ifndef JSTROBE_CLI_MEMORY_SPREAD_H
#define JSTROBE_CLI_MEMORY_SPREAD_H

#include "cli/memory/resident.h"

#define GRANULE 65536 /* in which metaspace is committed */

struct spread {
	const struct mappings *maps;
	const struct ranges *settled;
	unsigned char *marks; /* by mapping; 0 = none */
};

bool spread_init(struct spread *s, const struct mappings *maps, const struct ranges *settled);
/* What holds ADDRESS is MARK, if nothing is known of that address; whether nothing was. */
bool spread_mark(struct spread *s, uint64_t address, unsigned char mark);
/* Marks reach over parts of a reservation that were never used, to what lies there in whole granules. */
void spread_over_gaps(struct spread *s);
void spread_claim(struct spread *s, struct ranges *c, unsigned char mark, enum memory_line line, const char *what);
void spread_free(struct spread *s);

#endif
