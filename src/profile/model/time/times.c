#include "profile/model/time/times.h"

#include "common/base/leb.h"

#define SPAN 1u
#define WEIGHT 2u
#define THREAD 4u

size_t times_put(uint8_t *to, const struct times_moment *m, const struct times_moment *before)
{
	unsigned flags = (m->span || m->samples != 1 ? SPAN : 0) | (m->beside ? WEIGHT : 0) |
			 (m->thread != before->thread ? THREAD : 0);
	uint8_t *at = leb_put(to, (uint64_t)m->stack << 3 | flags);

	at = leb_put(at, leb_of_signed((int64_t)(m->at - before->at)));
	if (flags & THREAD)
		at = leb_put(at, m->thread);
	if (flags & SPAN) {
		at = leb_put(at, m->span);
		at = leb_put(at, m->samples);
	}
	if (flags & WEIGHT)
		at = leb_put(at, leb_of_signed(m->beside));
	return (size_t)(at - to);
}

bool times_next(const uint8_t **at, const uint8_t *end, struct times_moment *m)
{
	uint64_t head, steps, beside = 0, thread = m->thread;

	if (!leb_get(at, end, &head) || !leb_get(at, end, &steps) || (head & THREAD && !leb_get(at, end, &thread)))
		return false;
	m->stack = (uint32_t)MIN(head >> 3, (uint64_t)UINT32_MAX);
	m->thread = (uint32_t)MIN(thread, (uint64_t)UINT32_MAX);
	m->at += (uint64_t)leb_signed(steps);
	m->span = 0;
	m->samples = 1;
	if (head & SPAN && (!leb_get(at, end, &m->span) || !leb_get(at, end, &m->samples)))
		return false;
	if (head & WEIGHT && !leb_get(at, end, &beside))
		return false;
	m->beside = leb_signed(beside);
	return true;
}
