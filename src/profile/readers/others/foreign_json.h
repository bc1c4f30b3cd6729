/*
 * foreign_json.h - JSON of other profilers and viewers: which it is, and what its readers share. Inner header of the
 * readers room.
 */
#ifndef JSTROBE_READERS_FOREIGN_JSON_H
#define JSTROBE_READERS_FOREIGN_JSON_H

#include "profile/readers/conversion.h"
#include "profile/readers/input/json_pull.h"
#include "profile/readers/others/foreign_labels.h"
#include "profile/readers/others/foreign_tree.h"

#define FOREIGN_JSON_NULL UINT32_MAX /* in the place of a number */

/* A file that is being read. */
struct foreign_json {
	struct conversion *c;
	struct json j;
	struct foreign_events events;
	struct foreign_labels labels;
	struct foreign_tree tree;
	struct buffer copies[3]; /* of a frame's texts */
	uint64_t lost;  /* numbers that lead to nothing */
	uint64_t alone; /* samples without a weight, weights without a sample */
	bool no_memory;
};

void foreign_json_begin(struct foreign_json *f, struct conversion *c);
/* Read it anew from its beginning. */
void foreign_json_again(struct foreign_json *f);
/* Whether reading goes on: nothing is wrong so far. */
bool foreign_json_goes_on(const struct foreign_json *f);
/* A list of whole numbers from 0 on into TO; others, and null: FOREIGN_JSON_NULL. */
void foreign_json_column(struct foreign_json *f, struct numbers *to);
/* A list of texts, as numbers of the aggregate's strings, into TO. */
void foreign_json_texts(struct foreign_json *f, struct numbers *to);
/* Append NUMBER to TO. */
void foreign_json_push(struct foreign_json *f, struct numbers *to, uint32_t number);
/* Text NUMBER of the aggregate. */
struct foreign_text foreign_json_text(const struct foreign_json *f, uint32_t number);
/* The frame of texts of the aggregate, which move when more are added. */
uint32_t foreign_json_frame(struct foreign_json *f, const struct foreign_frame *frame);
/* A number that may be a text; 0: it is none. */
uint64_t foreign_json_id(struct foreign_json *f);
/* VALUE times SCALE, rounded; below 0: 0, which is counted. */
uint64_t foreign_json_scaled(struct foreign_json *f, long double value, uint64_t scale);
/* All was read: say what is odd, free F. KIND: what the file is called. 0, or a negative errno with the reason. */
int foreign_json_end(struct foreign_json *f, const char *kind, struct error *err);

#endif
