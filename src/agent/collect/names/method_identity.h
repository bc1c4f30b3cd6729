/*
 * method_identity.h - the Java methods seen, and from when to when their names are proved.
 *
 * A Method* is an address, and an address is no method: its memory is used again when a class was
 * unloaded or redefined. What may have happened between the moment of a sample and the one in
 * which the names are read is told by eras (agent/zone/method_epoch.h). A name is given to a sample only if the
 * method is proved to have had it in the sample's era; otherwise the frame is [unloaded].
 *
 * The collector's, except seen_redefined.
 */
#ifndef JSTROBE_COLLECT_NAMES_METHOD_IDENTITY_H
#define JSTROBE_COLLECT_NAMES_METHOD_IDENTITY_H

#include <pthread.h>

#include "agent/collect/names/name_java.h"
#include "agent/zone/zone.h"
#include "common/base/map.h"
#include "common/base/pages.h"
#include "common/base/vector.h"

struct era_range {
	uint64_t since, until; /* both included; since > until: none */
};

struct seen_method {
	uintptr_t method;
	struct method_chain chain; /* constant 0: could not be read */
	struct method_names names;
	struct era_range proved;   /* in these eras it had these names */
	struct era_range before;   /* and in these, earlier ones */
	uint64_t looked;           /* era in which it was alive for the last time we know */
	uint64_t unloaded;         /* classes unloaded by then */
	uint64_t chances;          /* era_chances by then */
	bool forever;              /* its class is never unloaded */
	bool sure;                 /* a sample says that it lived since it was read */
	uint32_t version;          /* grows when it becomes another method */
};

struct seen {
	PAGED(struct seen_method) seen;
	struct map by_address;     /* Method* → seen + 1 */
	struct map redefined;      /* number of a class name → 1 */
	pthread_mutex_t lock;      /* of the list below */
	VECTOR(char *) told;       /* names of redefined classes on their way into the map */
	atomic_bool unsure;        /* one was lost for lack of memory: it may be any class */
};

void seen_init(struct seen *m);
void seen_free(struct seen *m);
/*
 * The method at ADDRESS as it was in ERA, its names numbers in S; NULL when it is not proved to
 * have been the one that is there now. Valid until the next call.
 */
struct seen_method *seen_at(struct seen *m, const struct zone *z, struct strings *s, uintptr_t address,
			       uint64_t era);
/* What is known of M, a method of another account, under NAMES; without memory it is read anew when it is met. */
void seen_keep(struct seen *m, const struct seen_method *known, const struct method_names *names);
/* Whether what was read behind the chain of M, got from seen_at for ERA, was M's: it is alive still. */
bool seen_still(struct seen *m, const struct zone *z, struct strings *s, struct seen_method *seen,
		uint64_t era);
/* A class is about to be redefined, or was. NAME with slashes, copied. Any thread in normal code. */
void seen_redefined(struct seen *m, const char *name);

#endif
