#include "agent/tracing/tick_places.h"

#include "common/base/random.h"

#define TICKS_ALIKE 32 /* more would be too many for a rhythm that goes with their step, fewer too few to spread */
#define PART(x) ((uint32_t)((x) * 4294967296.0))

/* With g = 0.618…: g, 1 / (2 + 1 / (2 + g)), 1 / (2 + 1 / (3 + g)), 1 / (3 + 1 / (2 + g)), and one less each. */
static const uint32_t steps[] = {
	PART(0.6180339887), PART(0.3819660113), PART(0.4198212717), PART(0.5801787283),
	PART(0.4392914190), PART(0.5607085810), PART(0.2956859994), PART(0.7043140006),
};

void tick_places_begin(struct tick_places *p, uint64_t seed)
{
	*p = (struct tick_places){.chance = random_seed(seed)};
}

uint64_t tick_places_next(struct tick_places *p, uint64_t period)
{
	if (p->left-- == 0) {
		uint64_t random = random_below(&p->chance, UINT64_MAX);

		p->at = (uint32_t)random;
		p->step = steps[(random >> 32) % ARRAY_LEN(steps)];
		p->left = TICKS_ALIKE - 1;
	}
	p->at += p->step;
	return (uint64_t)((double)p->at / 4294967296.0 * (double)period);
}
