/*
 * field_layout.h - how values of a type lie in the file, as a list of steps.
 *
 * The metadata of a chunk are compiled once: the steps of a type skip what is not needed and put
 * the rest into numbered slots. Structs inside structs become part of the list; what an array holds
 * is a list of its own. Each step takes at least one byte, so that hostile metadata cannot make a
 * loop that does not end.
 *
 *   jdk.ExecutionSample {startTime, sampledThread, stackTrace, state}, without its thread:
 *     INT → slot 0, INTS 1, INT → slot 1, INT → slot 2
 */
#ifndef JSTROBE_READERS_JFR_FIELD_LAYOUT_H
#define JSTROBE_READERS_JFR_FIELD_LAYOUT_H

#include "profile/readers/jfr/metadata.h"

enum step_op {
	STEP_INT,   /* a compressed number → slot */
	STEP_INTS,  /* skip `count` of them */
	STEP_FIXED, /* `count` bytes, big-endian → slot */
	STEP_BYTES, /* skip `count` bytes */
	STEP_TEXT,  /* a string; slot: its address */
	STEP_ARRAY, /* a number of elements, each by the list `count`; slot: its address */
	STEP_HERE,  /* slot: the address of what follows, which is not moved past */
};

#define LAYOUT_NO_SLOT 0xff
#define LAYOUT_NONE UINT32_MAX

struct step {
	uint8_t op;
	uint8_t slot;
	uint32_t count;
};

/* A list of steps. */
struct field_layout {
	uint32_t first, count;
	uint32_t most; /* bytes it may take, where that can be told; else 0 */
};

struct field_layouts {
	const struct metadata *metadata;
	bool wide;
	VECTOR(struct step) steps;
	VECTOR(struct field_layout) layouts;
	struct map plain; /* type → layout + 1, without slots */
	uint64_t work; /* fields looked at */
	bool no_memory;
};

/* A field to be put into SLOT. */
struct wanted {
	const char *field;
	uint8_t slot;
};

void field_layouts_init(struct field_layouts *s, const struct metadata *m, bool wide);
void field_layouts_free(struct field_layouts *s);
/*
 * The layout of TYPE with the fields of WANTED[0..COUNT) in their slots: numbers (floats as their
 * bits) and keys as they are, texts and arrays as addresses. LAYOUT_NONE if the type cannot be read,
 * or with s->no_memory set.
 */
uint32_t field_layout_of(struct field_layouts *s, uint32_t type, const struct wanted *wanted, size_t count);
/* The same, but for values of which nothing is to be read behind the last field that is wanted. */
uint32_t field_layout_up_to(struct field_layouts *s, uint32_t type, const struct wanted *wanted, size_t count);
/* Whether SHAPE is just compressed numbers for the slots SLOTS[0..COUNT). */
bool field_layout_is_row(const struct field_layouts *s, uint32_t layout, const uint8_t *slots, size_t count);
/* The layout of a bare string: the constants of java.lang.String. */
uint32_t field_layout_of_text(struct field_layouts *s);
/* The list of the elements of TYPE's array FIELD with slots for WANTED; LAYOUT_NONE. */
uint32_t field_layout_of_elements(struct field_layouts *s, uint32_t type, const char *field,
			   const struct wanted *wanted, size_t count);
/* Move R past one value of SHAPE and fill SLOTS. R fails when it does not fit. */
void field_layout_read(const struct field_layouts *s, uint32_t layout, struct reader *r, uint64_t *slots);

#endif
