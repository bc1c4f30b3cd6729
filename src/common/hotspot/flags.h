/*
 * flags.h - the JVM's own options, read and written in place.
 */
#ifndef JSTROBE_HOTSPOT_FLAGS_H
#define JSTROBE_HOTSPOT_FLAGS_H

#include "common/hotspot/layout.h"

/* Set the bool flag NAME to VALUE if it has its default. True when it was changed. Normal code. */
bool flag_set_default_bool(const struct layout *l, const char *name, bool value);
/* Set the bool flag NAME. False when there is no such flag. Normal code. */
bool flag_write_bool(const struct layout *l, const char *name, bool value);
/* Read the bool flag NAME into *VALUE. False when there is no such flag. Normal code. */
bool flag_read_bool(const struct layout *l, const char *name, bool *value);
/* Read the flag NAME, a size (size_t), into *VALUE. False when there is no such flag. */
bool flag_read_size(const struct layout *l, const char *name, uint64_t *value);

#endif
