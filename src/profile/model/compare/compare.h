/*
 * compare.h - two profiles, method by method: what has changed beyond chance (chance.h), and where.
 *
 * A method is looked at twice: by itself (self: it is on top of the stack), and with all it calls (total). Of those who
 * only call what has changed nothing is said but that: their change without the stacks in which a listed method stands
 * below them is within chance. Normal code; profiles stay the caller's.
 */
#ifndef JSTROBE_MODEL_COMPARE_H
#define JSTROBE_MODEL_COMPARE_H

#include "profile/model/compare/chance.h"
#include "profile/model/name_table.h"

enum { BEFORE, AFTER, SIDES };

/* What rates are: amounts by time, by unit of work, or shares of the whole where neither is known. */
enum compare_by { BY_SECOND, BY_UNIT, BY_SHARE };

/* Whether a row is listed, and if not, why. */
enum compare_verdict {
	VERDICT_CHANCE,    /* its change may be chance, or there is none */
	VERDICT_CHANGED,
	VERDICT_EXPLAINED, /* by what it calls */
};

/* A method's numbers, of one kind: self or total. */
struct compare_part {
	uint64_t amount[SIDES], samples[SIDES];
	double variance[SIDES];   /* by their numbers alone */
	double *blocks[SIDES];    /* amounts by block of time; NULL: the file does not say it */
	struct chance_change change;
	enum compare_verdict verdict;
};

struct compare_row {
	const char *name;
	struct compare_part self, total;
	uint32_t explained_by; /* row whose change the total's is, COMPARE_NO_ROW: none */
	double distance;       /* how far it stands from the top of its stacks, on average */
};
#define COMPARE_NO_ROW UINT32_MAX

struct comparison {
	const struct profile *profiles[SIDES];
	bool by_weight;     /* amounts are weights, else samples */
	enum compare_by by;
	double per[SIDES];  /* BY_UNIT: units of work; BY_SECOND: seconds */

	struct compare_row *rows; /* those whose self changed most first */
	uint32_t count;
	struct chance_run runs[SIDES];
	uint64_t whole[SIDES], samples[SIDES];
	struct chance_change change; /* of the whole; of 0 BY_SHARE */
	uint32_t tests;     /* changes looked at: of rows that have samples enough to tell */
	double deviations;  /* that intervals are wide */

	struct name_table names[SIDES];
	uint32_t *row_of[SIDES]; /* name → row */
	double *blocks[SIDES];   /* of all parts, of `blocked` rows; the whole's are the last */
	uint32_t blocked;
	struct strings texts;
};

/*
 * Fill in what follows `per` from what stands above it, with names in STYLE. `by`: BY_UNIT if `per` is set, else as
 * the profiles allow. 0 or -ENOMEM; free in both cases.
 */
int compare_build(struct comparison *c, unsigned style);
void compare_free(struct comparison *c);

/* Whether one of its numbers is listed. */
static inline bool compare_is_listed(const struct compare_row *r)
{
	return r->self.verdict == VERDICT_CHANGED || r->total.verdict == VERDICT_CHANGED;
}


#endif
