/*
 * workers.h - chunks are independent of one another, so that several threads read a large recording,
 * each into an aggregate and info of its own; in the end all become one.
 */
#ifndef JSTROBE_READERS_JFR_WORKERS_H
#define JSTROBE_READERS_JFR_WORKERS_H

#include "profile/readers/jfr/recording_info.h"

/* Add all of FROM to TO. Out of memory sets to->no_memory. */
void workers_join_aggregate(struct read_aggregate *to, const struct read_aggregate *from);
/* The same for the info, whose strings are those of FROM_AGGREGATE and become those of TO_AGGREGATE. */
void workers_join_info(struct recording_info *to, struct read_aggregate *to_aggregate,
		       const struct recording_info *from,
			const struct read_aggregate *from_aggregate);

#endif
