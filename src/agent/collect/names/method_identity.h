/*
 * method_identity.h - the Java methods seen, and from when to when their names are proved.
 *
 * A Method* is an address, and an address is no method: its memory is used again when a class was
 * unloaded or redefined. What may have happened between the moment of a sample and the one in
 * which the names are read is told by eras (agent/zone/method_epoch.h). A name is given to a sample only if the
 * method is proved to have had it in the sample's era; otherwise the frame is [unloaded].
 *
 * The collector's, except method_identities_redefined.
 */
#ifndef JSTROBE_COLLECT_NAMES_METHOD_IDENTITY_H
#define JSTROBE_COLLECT_NAMES_METHOD_IDENTITY_H

#include <pthread.h>

#include "agent/collect/names/name_java.h"
#include "agent/zone/method_epoch.h"
#include "agent/zone/zone.h"
#include "common/base/map.h"
#include "common/base/pages.h"
#include "common/base/vector.h"

struct method_epoch_range {
	uint64_t since, until; /* both included; since > until: none */
};

struct method_identity {
	uintptr_t method;
	struct method_chain chain; /* constant 0: could not be read */
	struct method_names names;
	struct method_epoch_range proved;   /* in these eras it had these names */
	struct method_epoch_range before;   /* and in these, earlier ones */
	uint64_t looked;           /* era in which it was alive for the last time we know */
	uint64_t unloaded;         /* classes unloaded by then */
	uint64_t chances;          /* method_epoch_chances by then */
	bool forever;              /* its class is never unloaded */
	bool sure;                 /* a sample says that it lived since it was read */
	uint32_t version;          /* grows when it becomes another method */
};

struct method_identities {
	PAGED(struct method_identity) seen;
	struct map by_address;     /* Method* → seen + 1 */
	struct map redefined;      /* number of a class name → 1 */
	pthread_mutex_t lock;      /* of the list below */
	VECTOR(char *) told;       /* names of redefined classes on their way into the map */
	atomic_bool unsure;        /* one was lost for lack of memory: it may be any class */
};

void method_identities_init(struct method_identities *m);
void method_identities_free(struct method_identities *m);
/*
 * The method at ADDRESS as it was in ERA, its names numbers in S; NULL when it is not proved to
 * have been the one that is there now. Valid until the next call.
 */
struct method_identity *method_identities_at(struct method_identities *m, const struct zone *z, struct strings *s,
					     uintptr_t address, uint64_t epoch);
/* What is known of M, a method of another aggregate, under NAMES; without memory it is read anew when it is met. */
void method_identities_keep(struct method_identities *m, const struct method_identity *known,
			    const struct method_names *names);
/* Whether what was read behind the chain of M, got from method_identities_at for EPOCH, was M's: it is alive still. */
bool method_identities_still(struct method_identities *m, const struct zone *z, struct strings *s,
			     struct method_identity *seen, uint64_t epoch);
/* A class is about to be redefined, or was. NAME with slashes, copied. Any thread in normal code. */
void method_identities_redefined(struct method_identities *m, const char *name);

/* Which eras (agent/zone/method_epoch.h) are still on, as far as the collector can tell. */

/* Look whether safepoints went on: then this is another era. */
void method_epoch_look(struct method_epochs *e);
/* Whether what was read until now, of a sample of ERA, is of ERA. */
bool method_epoch_is_current(const struct method_epochs *e, uint64_t epoch);
/* Whether what was proved in ERA is so for all of its samples, also those that were taken since. */
bool method_epoch_is_one(const struct method_epochs *e, uint64_t epoch);

#endif
