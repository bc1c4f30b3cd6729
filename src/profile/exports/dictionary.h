/*
 * dictionary.h - what stacks consist of, each thing once and by number: texts, functions, mappings, locations. Files of
 * pprof and OTLP have such tables.
 *
 * Numbers begin at 1; 0 is "", or none. Zeroed = empty. Normal code, one thread at a time.
 */
#ifndef JSTROBE_EXPORTS_DICTIONARY_H
#define JSTROBE_EXPORTS_DICTIONARY_H

#include "common/base/buffer.h"
#include "common/base/strings.h"
#include "profile/model/format_options.h"
#include "profile/model/profile.h"
#include "profile/readers/lists.h"

struct dictionary {
	struct strings texts;
	struct lists text_places; /* lists of one: place in `texts` */
	struct lists functions;   /* lists of one: number of the name */
	struct lists mappings;    /* lists of one: number of the file's name */
	struct lists locations;   /* LOCATION_*, then function and line of each method, innermost first */
	bool failed;              /* out of memory */
	struct buffer spelled;
	struct numbers location;  /* being made */
};

/* The words of a location. */
enum { LOCATION_IN_MAPPING, LOCATION_OF_TYPE /* enum frame_type */, LOCATION_WORDS };

/* The number of TEXT, as valid UTF-8. */
uint32_t dictionary_text(struct dictionary *t, const char *text);
/* Text number N, from 1 on. */
const char *dictionary_get_text(const struct dictionary *t, uint32_t n);
/* Before all others: the mapping that has Java code, which is called after P's main class. */
void dictionary_program(struct dictionary *t, const struct profile *p);
/*
 * The numbers of the functions of P's frames, by frame, and behind them that of a stack without frames. The caller
 * frees them.
 */
uint32_t *dictionary_functions(struct dictionary *t, const struct profile *p, const struct format_options *options);
/*
 * Put the locations of S, root first, into LIST: methods that were inlined are part of the location of the one that
 * they were inlined into. FUNCTIONS: of P.
 */
void dictionary_locate(struct dictionary *t, const struct profile *p, const struct profile_stack *s,
		       const uint32_t *functions, struct numbers *list);
void dictionary_free(struct dictionary *t);

/* What an item of TABLE that is one number is. */
static inline uint32_t dictionary_only(const struct lists *table, uint32_t i)
{
	uint32_t n;

	return *lists_get(table, i, &n);
}

#endif
