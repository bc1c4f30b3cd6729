#include "agent/zone/queue.h"

uint32_t queue_next_capacity(uint32_t capacity, uint64_t lost_full)
{
	uint64_t wanted = capacity;

	if (lost_full > 8ull * capacity)
		wanted = capacity * (lost_full / capacity);
	else if (lost_full > 2ull * capacity)
		wanted = capacity * 8ull;
	else if (lost_full * 2 > capacity)
		wanted = capacity * 4ull;
	else if (lost_full * 100 > capacity)
		wanted = capacity * 2ull;
	return (uint32_t)MAX((uint64_t)capacity, MIN(wanted, (uint64_t)QUEUE_LIMIT));
}
