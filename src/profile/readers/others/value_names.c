#include "profile/readers/others/value_names.h"

#include <stddef.h>

const struct value_names value_names[] = {
	{"cpu", {"samples", NULL, "cpu"}, false},
	{"calls", {"calls", NULL, "time"}, true},
	{"lock", {"contentions", NULL, "delay"}, false},
	{"alloc", {"alloc_samples", "alloc_objects", "alloc_space"}, false},
	{"live", {"inuse_samples", "inuse_objects", "inuse_space"}, false},
	{"wall", {"wall_samples", NULL, "wall"}, false},
	/* node */
	{"wall", {"sample", NULL, "wall"}, false},
	{"live", {NULL, "objects", "space"}, false},
	/* Datadog */
	{"cpu", {"cpu-samples", NULL, "cpu-time"}, false},
	{"alloc", {"alloc-samples", NULL, "alloc-space"}, false},
	{NULL, {NULL, NULL, NULL}, false},
};

const char *const value_name_endings[VALUE_ROLES] = {
	[VALUE_SAMPLES] = "_samples", [VALUE_OBJECTS] = "_objects", [VALUE_WEIGHT] = "",
};
