/*
 * conversion.h - a file that is being read, with what was asked for and what was found. Inner header of the readers
 * room.
 */
#ifndef JSTROBE_READERS_CONVERSION_H
#define JSTROBE_READERS_CONVERSION_H

#include "common/options/options.h"
#include "profile/readers/read_formats.h"

struct conversion {
	struct input in;
	struct read_aggregate aggregate;
	struct recording_info info;
	struct selection selection;
	struct left_blocks left;
	struct spans spans;
	struct first_allocs allocs;
	struct profile_marks *marks; /* of the first of what is shown */
	VECTOR(struct profile) profiles;
	const struct profile **shown;
	uint32_t shown_count;
	VECTOR(char *) texts;
	VECTOR(uint32_t *) lists;
	const struct options *options;
	struct buffer notes;
	const char *title;
};

/*
 * Read what C's file holds, by the reader of its format, as C's selection says. 0 or a negative errno with the reason.
 */
int conversion_read(struct conversion *c, struct error *err);
/* A part of the samples only was asked for: counts of all of them do not fit. */
bool conversion_is_part(const struct conversion *c);
/* The error of a file that needs more memory than there is, or than it can mean. */
int conversion_no_memory(const struct conversion *c, struct error *err);

#endif
