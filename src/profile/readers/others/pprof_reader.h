/*
 * pprof_reader.h - a file of pprof that is being read: where its tables' items stand, and frames that its locations
 * became. Inner header of the readers room.
 */
#ifndef JSTROBE_READERS_PPROF_READER_H
#define JSTROBE_READERS_PPROF_READER_H

#include "profile/readers/conversion.h"
#include "profile/readers/others/foreign_labels.h"
#include "profile/readers/others/id_table.h"
#include "profile/readers/others/protobuf_pull.h"

/* Two texts by number, as a sample type has. */
struct pprof_pair {
	uint64_t name, unit;
};

/* Frames that a location became. */
struct pprof_place {
	uint32_t first, count; /* in `frames`, outermost first; count 0: not made yet */
	uint32_t object;       /* the frame + 1 that it is as the class of an object */
	bool is_class;         /* it may be one */
};

/* Texts, by number, of a function or mapping that something led to: others may be as large as the file. */
struct pprof_known {
	uint64_t name, source; /* of a mapping: its file; 0 */
	bool mapped;           /* of a mapping: it is said where it ends, or of what build it is */
};

struct pprof {
	struct conversion *c;
	const struct input *in;
	VECTOR(uint64_t) texts;       /* where they stand */
	struct id_table functions, mappings, locations;
	VECTOR(struct pprof_known) known;
	struct map known_functions, known_mappings; /* by place: in `known`, + 1 */
	VECTOR(struct pprof_pair) types;
	VECTOR(struct pprof_place) places;  /* of locations */
	VECTOR(struct pprof_pair) lines;    /* of the present location: function and line */
	struct numbers frames, ids, stack;
	struct pprof_pair period_type;
	uint64_t period, time, duration, comment, samples, lost, made;
	uint64_t values[FOREIGN_NUMBERS_MOST];
	struct foreign_events events;
	struct foreign_labels labels;
	bool no_memory, ours;
};

/* Text NUMBER; "" with a count if there is none. */
struct foreign_text pprof_text(struct pprof *p, uint64_t number);
/* The message or text that begins, with its tag, at AT. */
struct proto pprof_message_at(const struct pprof *p, uint64_t at);
/* Append NUMBER to TO; LISTS_FAILED, or out of memory, sets p->no_memory. */
void pprof_push(struct pprof *p, struct numbers *to, uint32_t number);
/* Location number I, as frames. */
struct pprof_place *pprof_place(struct pprof *p, uint32_t i);

#endif
