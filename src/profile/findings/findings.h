/*
 * findings.h - the door of the findings room: what a profile says to a person with a slow program, at most seven
 * sentences, each with a number and with where to look next. "Nothing stands out" is an answer: no list is filled up.
 *
 * Only the command has it; docs/reference/findings.md says what each goes by.
 */
#ifndef JSTROBE_FINDINGS_H
#define JSTROBE_FINDINGS_H

#include "common/base/json_writer.h"
#include "profile/model/profile.h"
#include "profile/model/surroundings.h"
#include "profile/writers/format.h"

#define FINDINGS_MOST 7

struct profile_finding {
	const char *id;      /* of findings.def: a promise */
	/* about which part of the trouble it explains, 0 to 1; what spoils the result is above that */
	double score;
	char sentence[400];  /* what is so, with a number */
	char advice[300];    /* where to look, or what to do; "" = nothing to be done */
	char look[256];      /* the name of a frame to search for in the page; "" = none */
};

struct findings {
	struct profile_finding rows[FINDINGS_MOST]; /* the heaviest first */
	uint32_t count;
	uint32_t more;       /* that had no room */
	char note[400];      /* where there are none: what the session shows or cannot show all the same; "": nothing */
	bool locks_recorded; /* waits for locks are in the session, all of them: wall time need not conclude them */
};

/*
 * What COUNT profiles of one session say, with what went on around them (NULL: not known). 0 or -ENOMEM. Normal code.
 */
int findings_find(struct findings *f, const struct profile *const *profiles, uint32_t count,
		  const struct surroundings *around);

/* Beside a result: what writers put where they have a place for it. F and AROUND live as long. */
void findings_beside(struct format_beside *b, const struct findings *f, const struct surroundings *around);

/* findings.def, thresholds.def and surroundings.def as tables of Markdown. */
void findings_markdown(struct buffer *out);

#endif
