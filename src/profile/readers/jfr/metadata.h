/*
 * metadata.h - what a chunk says of its types: names, fields, units.
 *
 * A chunk numbers its types as it likes and may write other fields than the JDK does, so that
 * everything is looked up by name here. Layout of the metadata event: a table of strings, then a
 * tree of elements
 *
 *   element = name, n × (key, value), number of children, children      (indices of strings)
 *   root → metadata → class {name, id, superType, simpleType}
 *                       field {name, class = id of its type, constantPool, dimension}
 *                         annotation {class = id, value}
 *
 * Source: jdk/jfr/internal/MetadataReader.java.
 */
#ifndef JSTROBE_READERS_JFR_METADATA_H
#define JSTROBE_READERS_JFR_METADATA_H

#include "common/base/map.h"
#include "common/base/vector.h"
#include "profile/readers/jfr/jfr_reader.h"

#define METADATA_NONE UINT32_MAX

/* What a number of a field counts, by its annotation Timespan or Timestamp. */
enum metadata_unit { UNIT_NONE, UNIT_TICKS, UNIT_NS, UNIT_US, UNIT_MS, UNIT_S };

/* ns of one; 1 where the unit does not say. */
static inline uint64_t metadata_unit_ns(enum metadata_unit unit)
{
	return unit == UNIT_US ? NS_PER_US : unit == UNIT_MS ? NS_PER_MS : unit == UNIT_S ? NS_PER_S : 1;
}

struct metadata_field {
	const char *name;
	uint64_t type_id;
	uint32_t type; /* index of types, METADATA_NONE if the chunk has none of that number */
	bool pooled;   /* a key of that type's constants */
	bool array;
	enum metadata_unit unit;
};

struct metadata_type {
	const char *name;
	uint64_t id;
	bool event;
	uint32_t first, count; /* its fields */
};

/* An annotation of a field. */
struct metadata_note {
	uint32_t field;
	uint64_t type_id;
	const char *value;
};

struct metadata {
	VECTOR(struct metadata_type) types;
	VECTOR(struct metadata_field) fields;
	VECTOR(struct metadata_note) notes;
	VECTOR(size_t) strings; /* where each begins in `text` */
	char *text; /* of all strings, each ended by NUL */
	struct map by_id;
	uint8_t *source; /* the bytes it was read from, the times at their front left out */
	size_t source_size;
};

/*
 * Read the metadata event that R stands at; M is zeroed or was read before: the chunks of a recording
 * mostly have the same, which is not read again then, and *FRESH is false. 0, -EBADMSG (damaged: nothing
 * is usable) or -ENOMEM. Free in all cases.
 */
int metadata_read(struct metadata *m, struct reader r, bool *fresh);
void metadata_free(struct metadata *m);

/* The type with this number, or called NAME; METADATA_NONE. */
uint32_t metadata_by_id(const struct metadata *m, uint64_t id);
uint32_t metadata_by_name(const struct metadata *m, const char *name);
/* The field of TYPE, or METADATA_NONE, that is called NAME, or NULL; NULL: it has none. */
const struct metadata_field *metadata_field_of(const struct metadata *m, uint32_t type, const char *name);

#endif
