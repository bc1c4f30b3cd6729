/*
 * io_places.h - where in the program calls that read, write and the like come from. Inner header of the writers room.
 */
#ifndef JSTROBE_WRITERS_IO_PLACES_H
#define JSTROBE_WRITERS_IO_PLACES_H

#include "profile/model/name_table.h"

struct io_place {
	uint32_t name; /* in io_places.names */
	uint64_t weight, samples;
	uint64_t error; /* standard error of the weight; 0: it is exact */
};

struct io_places {
	struct name_table names;
	struct io_place *items; /* the heaviest first */
	uint32_t count;
};

/* Those of P, of the event io, with names in STYLE. 0 or -ENOMEM; free in both cases. Normal code. */
int io_places_find(struct io_places *places, const struct profile *p, unsigned style);
void io_places_free(struct io_places *places);

#endif
