/*
 * otlp_reader.h - profiles of OTLP that are being read: where the items of their dictionary stand, and frames that its
 * locations became. Inner header of the readers room.
 */
#ifndef JSTROBE_READERS_OTLP_READER_H
#define JSTROBE_READERS_OTLP_READER_H

#include "profile/readers/conversion.h"
#include "profile/readers/others/foreign_labels.h"
#include "profile/readers/others/otlp_schema.h"
#include "profile/readers/others/protobuf_pull.h"

/* Tables of the dictionary, by the numbers of their fields. */
enum otlp_table { OTLP_MAPPINGS = 1, OTLP_LOCATIONS, OTLP_FUNCTIONS, OTLP_LINKS, OTLP_STRINGS, OTLP_ATTRIBUTES,
		  OTLP_STACKS, OTLP_TABLES };

/* Frames that a location became. */
struct otlp_place {
	uint32_t first, count; /* in `frames`, outermost first; count 0: not made yet */
	uint32_t object;       /* the frame + 1 that it is as the class of an object; 0: it is none */
};

/* What samples of a Profile are: the number of their place in foreign_events. */
struct otlp_type {
	uint64_t name, unit;
};

/* What an item of a table says that samples or locations led to: others may be as large as the file. */
struct otlp_known {
	struct foreign_text first, second; /* name and source; file; key and text; bytes of trace and span */
	uint64_t number;                   /* of an attribute; of a mapping: where it ends */
};

struct otlp {
	struct conversion *c;
	const uint8_t *bytes;
	uint64_t size;
	VECTOR(uint64_t) tables[OTLP_TABLES]; /* where items stand */
	VECTOR(struct otlp_known) known;
	struct map known_of[OTLP_TABLES];     /* by number: in `known`, + 1 */
	VECTOR(struct otlp_place) places;     /* of locations */
	VECTOR(struct otlp_type) lines;       /* of the present location: function and line */
	VECTOR(struct otlp_type) types;       /* by column */
	struct numbers frames, stack;
	struct numbers stacks[2];             /* of the aggregate + 1, by theirs; [1]: with objects as leaves */
	struct otlp_type period_type;
	uint64_t period, start, end, lost, made, samples;
	uint64_t values[FOREIGN_NUMBERS_MOST];
	struct foreign_events events;
	struct foreign_labels labels;
	bool no_memory, ours, cut;
};

struct foreign_text otlp_text(struct otlp *o, uint64_t number);
/* The text of MESSAGE's field FIELD; "" = none. */
struct foreign_text otlp_text_in(struct proto message, uint64_t field);
/* The message in field FIELD of MESSAGE; an empty one: there is none. */
struct proto otlp_message_in(struct proto message, uint64_t field);
/* What item NUMBER of TABLE says: functions, mappings, attributes, links. Each is read but once, as many lead to it. */
struct otlp_known otlp_known(struct otlp *o, enum otlp_table table, uint64_t number);
/* Stack NUMBER as one of the aggregate, whose leaf is an object if AS_OBJECT. LISTS_FAILED: out of memory. */
uint32_t otlp_stack(struct otlp *o, uint64_t number, bool as_object);

/*
 * The messages that the JSON of IN stands for, to OUT. NULL, or what the byte *AT should have been: what stands before
 * it is in OUT.
 */
const char *otlp_of_json(const struct input *in, struct buffer *out, uint64_t *at);

#endif
