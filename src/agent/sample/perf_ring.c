#include "agent/sample/perf_ring.h"

#include <linux/perf_event.h>

#include "cpu.h"

#define CHAIN_LIMIT 256
#define RECORD_MOST 1400 /* bytes of a sample with the 127 kernel frames that the kernel gives by default */

static uint64_t word(const struct perf_reader *r, uint64_t position)
{
	return r->data[(position & (r->size - 1)) / sizeof(uint64_t)];
}

uint64_t perf_scaled(uint64_t count, uint64_t enabled, uint64_t running)
{
	if (running == 0 || running >= enabled)
		return count;
	return (uint64_t)((double)count * (double)enabled / (double)running);
}

bool perf_ring_holds(const void *ring)
{
	const struct perf_event_mmap_page *page = ring;

	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) !=
	       __atomic_load_n(&page->data_tail, __ATOMIC_RELAXED);
}

void perf_ring_open(struct perf_reader *r, void *ring, bool scaled)
{
	struct perf_event_mmap_page *page = ring;

	r->ring = ring;
	r->data = (const uint64_t *)(const void *)((const char *)ring + page->data_offset);
	r->size = page->data_size;
	r->scaled = scaled;
	r->lost = 0;
	r->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	r->tail = page->data_tail;
	/* More than the ring holds: the page was overwritten. */
	if (r->head - r->tail > r->size)
		r->tail = r->head;
	r->full = r->head - r->tail + RECORD_MOST > r->size;
}

/* Of the sample at AT, SIZE bytes long, whose addresses begin FIXED bytes from there. */
static void read_sample(struct perf_reader *r, uint64_t at, uint64_t size, uint64_t fixed)
{
	uint64_t length, room = (size - fixed) / 8;

	r->count = word(r, at + 8);
	if (r->scaled)
		r->count = perf_scaled(r->count, word(r, at + 16), word(r, at + 24));
	r->chain = at + fixed;
	length = word(r, r->chain - 8);
	r->chain_length = MIN(length, MIN(room, (uint64_t)CHAIN_LIMIT));
	r->placed = length <= room && room - length >= 3 &&
		    word(r, r->chain + length * 8) != PERF_SAMPLE_REGS_ABI_NONE;
	if (r->placed) {
		uint64_t first = r->chain + length * 8 + 8; /* of the lower number */

		r->sp = word(r, first + (CPU_PERF_SP > CPU_PERF_PC) * 8);
		r->pc = word(r, first + (CPU_PERF_PC > CPU_PERF_SP) * 8);
	}
}

bool perf_ring_next(struct perf_reader *r)
{
	uint64_t fixed = r->scaled ? 40 : 24; /* header, what was read, number of addresses */

	while (r->head - r->tail >= sizeof(struct perf_event_header)) {
		uint64_t header = word(r, r->tail);
		uint32_t type = (uint32_t)header;
		uint64_t size = header >> 48;
		uint64_t at = r->tail;

		if (size < sizeof(struct perf_event_header) || size > r->head - at) {
			r->tail = r->head;
			return false;
		}
		r->tail += size;
		if (type == PERF_RECORD_LOST && size >= 24)
			r->lost += word(r, at + 16);
		if (type != PERF_RECORD_SAMPLE || size < fixed)
			continue;
		r->in_kernel = (header >> 32 & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
		read_sample(r, at, size, fixed);
		return true;
	}
	return false;
}

uint64_t perf_ring_address(const struct perf_reader *r, uint64_t i)
{
	uint64_t address = word(r, r->chain + i * 8);

	return address >= (uint64_t)PERF_CONTEXT_MAX ? 0 : address;
}

void perf_ring_close(struct perf_reader *r)
{
	struct perf_event_mmap_page *page = r->ring;

	__atomic_store_n(&page->data_tail, r->tail, __ATOMIC_RELEASE);
}
