/*
 * workers.h - chunks are independent of one another, so that several threads read a large recording,
 * each into a fold and facts of its own; in the end all become one.
 */
#ifndef JSTROBE_READERS_JFR_WORKERS_H
#define JSTROBE_READERS_JFR_WORKERS_H

#include "profile/readers/jfr/recording_info.h"

/* Add all of FROM to TO. Out of memory sets to->no_memory. */
void workers_join_fold(struct fold *to, const struct fold *from);
/* The same for facts, whose strings are those of FROM_FOLD and become those of TO_FOLD. */
void workers_join_facts(struct facts *to, struct fold *to_fold, const struct facts *from,
			const struct fold *from_fold);

#endif
