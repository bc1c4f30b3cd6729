/*
 * jfr_types.h - the numbers of a recording's types, and the table they stand in. Inner header.
 */
#ifndef JSTROBE_WRITERS_JFR_JFR_TYPES_H
#define JSTROBE_WRITERS_JFR_JFR_TYPES_H

#include "common/base/base.h"

/*
 * The JDK's reader looks constants up by type and key through all chunks of a file, and its `jfr summary` counts events
 * by their type's number, whatever it is called in another chunk. Chunks of a JVM's own may come behind ours (jfrsync):
 * numbers of our constants' types are always far above those that a JVM gives out, those of events, which
 * cost a byte more then, only in such a file (apart).
 */
#define JFR_APART 10000u
#define JFR_CONSTANT_ID(type) ((type) + JFR_APART)

/* Types 0 and 1 are the format's own: metadata and checkpoint. */
enum jfr_type {
	JFR_METADATA,
	JFR_CHECKPOINT,
#define JFR_TYPE(id, name, kind, label) JFR_##id,
#include "profile/writers/jfr/jfr_types.def"
	JFR_TYPES
};

enum jfr_kind { JFR_PRIMITIVE, JFR_STRUCT, JFR_SIMPLE, JFR_CONSTANT, JFR_EVENT, JFR_ANNOTATION,
		JFR_CONTENT /* an annotation that says what a number is */ };

enum jfr_unit {
	JFR_UNIT_NONE,
	JFR_UNIT_TIME,     /* a point in time, ticks */
	JFR_UNIT_TICKS,    /* a length of time */
	JFR_UNIT_NANOS,
	JFR_UNIT_MILLIS,
	JFR_UNIT_EPOCH_MS, /* a point in time, ms since 1970 */
	JFR_UNIT_BYTES,
	JFR_UNIT_SHARE,    /* 0 to 1 */
	JFR_UNIT_ADDRESS,
};

enum { JFR_FLAG_0, JFR_FLAG_POOL, JFR_FLAG_LIST };

/* One line of jfr_types.def: a type, or a field of the type above. */
struct jfr_row {
	const char *name;
	const char *label;  /* of a type: its label, and behind | its categories; or NULL */
	uint8_t type;       /* its number, or a field's type */
	uint8_t kind;       /* of a type */
	uint8_t flag, unit; /* of a field */
	bool is_field;
};

extern const struct jfr_row jfr_rows[];
extern const unsigned jfr_row_count;

/* The row of TYPE, and the number that stands for it in a file. */
const struct jfr_row *jfr_row_of(unsigned type);
unsigned jfr_type_id(unsigned type, bool apart);

#endif
