/* lenders.c - a finding about pools that lend connections: threads wait there until one is given back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/decimal.h"
#include "profile/findings/evidence.h"

/* Methods in which a thread is in that state only while no connection is free. */
static const struct {
	const char *class_name, *method, *pool, *setting;
	uint8_t state;
} lenders[] = {
	{"com/zaxxer/hikari/util/ConcurrentBag", "borrow", "HikariCP", "maximumPoolSize", THREAD_PARKED},
	{"org/apache/commons/pool2/impl/GenericObjectPool", "borrowObject", "Commons Pool", "maxTotal", THREAD_PARKED},
	{"org/apache/tomcat/jdbc/pool/ConnectionPool", "borrowConnection", "Tomcat JDBC", "maxActive", THREAD_PARKED},
	{"org/apache/http/pool/AbstractConnPool", "getPoolEntryBlocking", "Apache HttpClient", "maxPerRoute",
	 THREAD_PARKED},
	{"com/mchange/v2/resourcepool/BasicResourcePool", "awaitAvailable", "c3p0", "maxPoolSize", THREAD_WAITING},
	{"io/agroal/pool/ConnectionPool", "handlerFromSharedCache", "Agroal", "max-size", THREAD_PARKED},
};
#define LENDERS ARRAY_LEN(lenders)

struct lent {
	const struct profile *p;
	const struct thread_groups *groups;
	uint64_t waited[LENDERS], samples[LENDERS];
	uint64_t *by_frame[LENDERS];  /* of the method of the program that asks */
	uint64_t *by_group[LENDERS];
};

static size_t lender_of(const struct profile_frame *f)
{
	size_t i = 0;

	while (f->class_name && f->name && i < LENDERS &&
	       (strcmp(lenders[i].method, f->name) != 0 || strcmp(lenders[i].class_name, f->class_name) != 0))
		i++;
	return f->class_name && f->name ? i : LENDERS;
}

/* Whether F may be what asks the pool for a connection: neither of the JDK nor of the pool. */
static bool is_asking(const struct profile_frame *f, size_t lender)
{
	const char *own = lenders[lender].class_name, *end = strchr(own, '/');

	if (!frame_is_of_program(f))
		return false;
	end = end ? strchr(end + 1, '/') : NULL; /* "com/zaxxer/" */
	return !end || strncmp(f->class_name, own, (size_t)(end + 1 - own)) != 0;
}

static void add(struct lent *l, uint32_t number, size_t lender, uint32_t depth)
{
	const struct profile_stack *s = &l->p->stacks[number];
	uint32_t group = l->groups->of_stack[number];

	l->waited[lender] += s->weight;
	l->samples[lender] += s->samples;
	if (group != NO_GROUP)
		l->by_group[lender][group] += s->weight;
	while (depth-- > 0)
		if (is_asking(&l->p->frames[s->frames[depth]], lender)) {
			l->by_frame[lender][s->frames[depth]] += s->weight;
			return;
		}
}

static void sum_up(struct lent *l, const uint8_t *of_frame)
{
	uint32_t i, k;

	for (i = 0; i < l->p->stack_count; i++) {
		const struct profile_stack *s = &l->p->stacks[i];

		for (k = s->depth; k-- > 0;) {
			uint8_t lender = of_frame[s->frames[k]];

			if (lender == LENDERS)
				continue;
			if (s->state == lenders[lender].state)
				add(l, i, lender, k);
			break;
		}
	}
}

static void say_lent(const struct lent *l, size_t lender, struct profile_finding *f)
{
	uint32_t group = heaviest(l->by_group[lender], l->groups->count);
	double at_once = (double)l->waited[lender] / (double)l->p->duration;
	struct buffer place = BUFFER_INIT;

	put_heaviest(&place, l->p, l->by_frame[lender]);
	if (!place.failed) {
		f->score = 0.4 + 0.5 * MIN(1.0, at_once);
		say(f, "On average %s threads%s%.60s%s waited%s%.120s for a connection of %s: none is free.",
		    decimal(at_once, 1).text, l->by_group[lender][group] ? " (" : "",
		    l->by_group[lender][group] ? thread_group_name(l->groups, &l->groups->groups[group]) : "",
		    l->by_group[lender][group] ? ")" : "", *place.data ? " in " : "", place.data,
		    lenders[lender].pool);
		advise(f, "Look for what keeps them for long (a transaction around a slow call, one that is not given "
			  "back) before the pool is made larger (%s).", lenders[lender].setting);
		snprintf(f->look, sizeof(f->look), "%s", place.data);
	}
	buffer_free(&place);
}

static bool lent_build(struct lent *l)
{
	uint8_t *of_frame = malloc((size_t)l->p->frame_count + 1);
	bool whole = of_frame != NULL;
	uint32_t i;
	size_t k;

	for (k = 0; k < LENDERS; k++) {
		l->by_frame[k] = calloc((size_t)l->p->frame_count + 1, sizeof(*l->by_frame[k]));
		l->by_group[k] = calloc((size_t)l->groups->count + 1, sizeof(*l->by_group[k]));
		whole &= l->by_frame[k] && l->by_group[k];
	}
	for (i = 0; whole && i < l->p->frame_count; i++)
		of_frame[i] = (uint8_t)lender_of(&l->p->frames[i]);
	if (whole)
		sum_up(l, of_frame);
	free(of_frame);
	return whole;
}

void finding_pool_lent(const struct evidence *e, struct profile_finding *f)
{
	struct lent l = {.p = e->wall};
	size_t k, most = 0;

	if (!e->wall_work || !e->wall->duration)
		return;
	l.groups = &e->wall_work->groups;
	if (lent_build(&l)) {
		for (k = 1; k < LENDERS; k++)
			if (l.waited[k] > l.waited[most])
				most = k;
		if (l.samples[most] >= (uint64_t)LIMIT(lent_samples) &&
		    (double)l.waited[most] >= LIMIT(lent) * (double)l.p->duration)
			say_lent(&l, most, f);
	}
	for (k = 0; k < LENDERS; k++) {
		free(l.by_frame[k]);
		free(l.by_group[k]);
	}
}
