/*
 * value_names.h - what the numbers of events are called in files of pprof and OTLP. Constant data.
 *
 * The names are those that Go's own profiles have, so that viewers know what they are: "samples" and "cpu",
 * "contentions" and "delay", "alloc_objects" and "alloc_space", "inuse_space". Others are called after the event.
 */
#ifndef JSTROBE_READERS_VALUE_NAMES_H
#define JSTROBE_READERS_VALUE_NAMES_H

#include <stdbool.h>

enum value_role { VALUE_SAMPLES, VALUE_OBJECTS, VALUE_WEIGHT, VALUE_ROLES };

struct value_names {
	const char *event, *of[VALUE_ROLES]; /* NULL: there is no such number */
	bool ours;                           /* in files of others these names mean something else */
};

/* The first row of an event is what is written, the others are read as well. Ends with a row without event. */
extern const struct value_names value_names[];
/* What stands behind the event in the names of others; "" of weights. */
extern const char *const value_name_endings[VALUE_ROLES];

#endif
