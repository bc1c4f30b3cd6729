/*
 * served_reads.c - who reads from a connection that a client has opened waits for work: for the next request.
 *
 * Wall time does not say whose connection it is. The event io knows it: such reads weigh nothing there. So where the
 * session has both, a read of wall time is idle if all reads that io saw below the same methods of the program weigh
 * nothing; where some weigh, it is of an answer, however long the thread does nothing else. A read that began before
 * the session, and is the only one there, is not known.
 */
#include "profile/model/work/served_reads.h"

#include <string.h>

#include "common/base/hash.h"
#include "common/base/map.h"
#include "profile/model/askers.h"
#include "profile/model/work/activity_kind.h"

enum { READS_SERVED = 1, READS_OTHER };

static const struct profile *io_of(const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->session_count; i++)
		if (p->session[i]->weight_kind == WEIGHT_IO)
			return p->session[i];
	return NULL;
}

/* The methods of the program on S, if it reads: some method or function further in is called so. 0: it does not. */
static uint64_t path_of(const struct profile *p, const struct profile_stack *s)
{
	uint64_t path = 0;
	bool reads = false;
	uint32_t i;

	for (i = 0; i < s->depth; i++) {
		const struct profile_frame *f = &p->frames[s->frames[i]];

		if (frame_is_of_program(f)) {
			path = hash_mix(path) ^ frame_method_hash(f);
			reads = false;
		} else if (f->name) {
			reads |= strncmp(f->name, "read", 4) == 0 || strncmp(f->name, "recv", 4) == 0;
		}
	}
	return reads ? path : 0;
}

bool served_reads_idle(const struct profile *p, uint8_t *activities, bool *answers)
{
	const struct profile *io = p->weight_kind == WEIGHT_WALL ? io_of(p) : NULL;
	struct map paths = {0};
	bool ok = true;
	uint32_t i, *known;
	uint64_t path;

	for (i = 0; io && ok && i < io->stack_count; i++) {
		path = path_of(io, &io->stacks[i]);
		known = path && io->stacks[i].samples ? map_put(&paths, path, NULL) : NULL;
		ok = known || !path || !io->stacks[i].samples;
		if (known)
			*known = io->stacks[i].weight || *known == READS_OTHER ? READS_OTHER : READS_SERVED;
	}
	for (i = 0; paths.count && i < p->stack_count; i++) {
		path = activities[i] == ACTIVITY_NETWORK ? path_of(p, &p->stacks[i]) : 0;
		known = path ? map_get(&paths, path) : NULL;
		if (known && *known == READS_SERVED)
			activities[i] = ACTIVITY_IDLE;
		answers[i] = known && *known == READS_OTHER;
	}
	map_free(&paths);
	return ok;
}
