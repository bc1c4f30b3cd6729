#include "agent/sources/nativemem/blocks.h"

#include "agent/zone/zone.h"
#include "common/base/clock_ns.h"
#include "common/base/random.h"
#include "common/os/os.h"

#define GROUP 8u                /* words of a cache line */
#define GROUPS 32768u           /* a block's word is in one of two */
#define PLACES (GROUP * GROUPS) /* four for each block: of 16 where it can be, all are taken once in a million */
#define FREED 16384u            /* frees between two passes of the collector */
#define LEVELS 32u              /* a block stands for no more than 2^31 */

/* A word: 0: free; TAKEN: being written; else an address, HELD or not, and a level. Addresses are multiples of 8. */
#define TAKEN 1ull
#define HELD 2ull
#define LEVEL_SHIFT 56
#define ADDRESS(word) ((word) & ((1ull << LEVEL_SHIFT) - 8))
#define LEVEL(word) ((word) >> LEVEL_SHIFT)

struct block {
	_Atomic uint64_t id; /* how the manieth it is, and its place; 0 while it is written */
	_Atomic uint64_t weight, time;
	_Atomic uint32_t owner;
	uint64_t held_at;    /* when its word became HELD: who did that has it */
};

/* What the collector is told of a block that was freed. */
struct freed {
	_Atomic uint64_t number; /* how the manieth it is; else it is still being written */
	uint64_t time, address;
	uint32_t record;
};

_Atomic uint16_t blocks_filter[BLOCKS_FILTER];

static struct {
	_Atomic uint64_t *words; /* PLACES; NULL: not open */
	struct block *blocks;
	_Atomic uint32_t count, level;
	_Atomic bool halving;
	_Atomic uint64_t last;   /* number of the last one */
	_Atomic bool notes;      /* frees are told to the collector */
	struct freed *freed;     /* FREED, a ring */
	_Atomic uint64_t noted, told;
	uint64_t gathered;       /* up to here they are told next; the collector's */
	_Atomic uint64_t missed; /* so many found no room */
} table;

bool blocks_open(void)
{
	size_t words = PLACES * sizeof(*table.words), blocks = PLACES * sizeof(*table.blocks);
	size_t all = words + blocks + FREED * sizeof(*table.freed);
	char *room;

	if (table.words)
		return true;
	room = os_reserve(all);
	if (!room || os_make_writable(room, all))
		return false; /* the address space stays reserved; the next try may find memory */
	table.blocks = (struct block *)(void *)(room + words);
	table.freed = (struct freed *)(void *)(room + words + blocks);
	table.words = (_Atomic uint64_t *)(void *)room;
	return true;
}

static uint64_t key_of(uintptr_t address)
{
	return ADDRESS((uint64_t)address);
}

/* The I-th place where ADDRESS may be. */
static uint32_t place_of(uint64_t hash, unsigned i)
{
	uint32_t group = (uint32_t)(hash >> 49) ^ (i / GROUP);

	return group * GROUP + i % GROUP;
}

static void count_in_filter(uintptr_t address, int by)
{
	atomic_fetch_add_explicit(&blocks_filter[(blocks_hash(address) >> 32) % BLOCKS_FILTER], (uint16_t)by,
				  memory_order_relaxed);
}

/* WORD, as it was seen, becomes free. False: it has changed. */
static bool empty(_Atomic uint64_t *word, uint64_t seen)
{
	if (!atomic_compare_exchange_strong(word, &seen, 0))
		return false;
	count_in_filter((uintptr_t)ADDRESS(seen), -1);
	atomic_fetch_sub_explicit(&table.count, 1, memory_order_relaxed);
	return true;
}

static bool is_noted(void)
{
	return atomic_load_explicit(&table.notes, memory_order_relaxed);
}

/* The running thread frees the block of KEY at TIME. */
static void note_free(uint64_t key, uint64_t time)
{
	const struct thread_record *r = zone.records.by_tcb ? record_find(&zone.records, context_tcb()) : NULL;
	uint64_t at = atomic_load(&table.noted);
	struct freed *f;

	do {
		if (at - atomic_load(&table.told) >= FREED) {
			atomic_fetch_add(&table.missed, 1);
			return;
		}
	} while (!atomic_compare_exchange_weak(&table.noted, &at, at + 1));
	f = &table.freed[at % FREED];
	f->time = time;
	f->address = key;
	f->record = r ? r->index + 1 : 0;
	atomic_store(&f->number, at + 1);
}

static bool is_block(uint64_t word)
{
	return word && word != TAKEN;
}

/* A random half of all goes; what is held, or changes just now, stays as it is, and so does what it stands for. */
static void halve(uint64_t random)
{
	uint32_t level = atomic_load(&table.level), i;
	uint64_t seed = random_seed(random);

	if (level + 1 >= LEVELS || atomic_exchange(&table.halving, true))
		return;
	atomic_store(&table.level, level + 1);
	for (i = 0; i < PLACES; i++) {
		uint64_t word = atomic_load_explicit(&table.words[i], memory_order_relaxed);

		if (!is_block(word) || word & HELD || LEVEL(word) > level)
			continue;
		if (random_below(&seed, 2))
			empty(&table.words[i], word);
		else
			atomic_compare_exchange_strong(&table.words[i], &word, word + (1ull << LEVEL_SHIFT));
	}
	atomic_store(&table.halving, false);
}

/* The free of what was at ADDRESS before was not seen: it is gone all the same. */
static void forget_former(uint64_t hash, uint64_t key)
{
	unsigned i;

	for (i = 0; i < 2 * GROUP; i++) {
		_Atomic uint64_t *word = &table.words[place_of(hash, i)];
		uint64_t seen = atomic_load(word);

		while (is_block(seen) && ADDRESS(seen) == key && !(seen & HELD) && !empty(word, seen))
			seen = atomic_load(word);
	}
}

static uint64_t enter(uint64_t hash, uint64_t key, const struct block_there *new, uint64_t level)
{
	unsigned i;

	for (i = 0; i < 2 * GROUP; i++) {
		uint32_t place = place_of(hash, i);
		struct block *b = &table.blocks[place];
		uint64_t none = 0, id;

		if (!atomic_compare_exchange_strong(&table.words[place], &none, TAKEN))
			continue;
		id = (atomic_fetch_add(&table.last, 1) + 1) * PLACES + place;
		atomic_store(&b->id, 0);
		atomic_store_explicit(&b->weight, new->weight, memory_order_relaxed);
		atomic_store_explicit(&b->time, new->time, memory_order_relaxed);
		atomic_store_explicit(&b->owner, 0, memory_order_relaxed);
		b->held_at = 0;
		atomic_store(&b->id, id);
		count_in_filter((uintptr_t)key, 1);
		atomic_fetch_add_explicit(&table.count, 1, memory_order_relaxed);
		atomic_store(&table.words[place], key | level << LEVEL_SHIFT);
		return id;
	}
	return 0;
}

uint64_t blocks_add(uintptr_t address, const struct block_there *b, uint64_t random)
{
	uint64_t hash = blocks_hash(address), key = key_of(address), id;
	uint32_t level = atomic_load(&table.level), count = atomic_load(&table.count), expected = level;

	if (!table.words || !key)
		return 0;
	if (blocks_may_have(address))
		forget_former(hash, key);
	if (count >= BLOCKS_LIMIT)
		halve(random);
	else if (level && count < BLOCKS_LIMIT / 8)
		atomic_compare_exchange_strong(&table.level, &expected, level - 1);
	level = atomic_load(&table.level);
	if (level && random >> 8 & ((1ull << level) - 1))
		return 0;
	id = enter(hash, key, b, level);
	if (id)
		return id;
	halve(random);
	return enter(hash, key, b, level);
}

bool blocks_take_out(uintptr_t address)
{
	uint64_t hash = blocks_hash(address), key = key_of(address);
	unsigned i;

	for (i = 0; table.words && i < 2 * GROUP; i++) {
		_Atomic uint64_t *word = &table.words[place_of(hash, i)];
		uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

		/* halve may change the level meanwhile, or be the one that takes it out */
		while (is_block(seen) && ADDRESS(seen) == key && !(seen & HELD)) {
			if (empty(word, seen)) {
				if (is_noted())
					note_free(key, clock_ns(CLOCK_MONOTONIC));
				return true;
			}
			seen = atomic_load(word);
		}
	}
	return false;
}

_Atomic uint64_t *blocks_hold(uintptr_t address)
{
	uint64_t hash = blocks_hash(address), key = key_of(address);
	unsigned i;

	for (i = 0; table.words && i < 2 * GROUP; i++) {
		_Atomic uint64_t *word = &table.words[place_of(hash, i)];
		uint64_t seen = atomic_load_explicit(word, memory_order_acquire);

		while (is_block(seen) && ADDRESS(seen) == key && !(seen & HELD))
			if (atomic_compare_exchange_strong(word, &seen, seen | HELD)) {
				if (is_noted())
					table.blocks[word - table.words].held_at = clock_ns(CLOCK_MONOTONIC);
				return word;
			}
	}
	return NULL;
}

void blocks_let_go(_Atomic uint64_t *held, bool gone)
{
	uint64_t word = atomic_load(held), at = table.blocks[held - table.words].held_at;

	/* blocks_clear may have been here */
	if (!is_block(word) || !(word & HELD))
		return;
	if (!gone)
		atomic_compare_exchange_strong(held, &word, word & ~HELD);
	else if (empty(held, word) && is_noted() && at)
		note_free(ADDRESS(word), at);
}

void blocks_own(uint64_t id, uint32_t owner)
{
	struct block *b = &table.blocks[id % PLACES];

	if (table.words && atomic_load(&b->id) == id)
		atomic_store(&b->owner, owner);
}

void blocks_each(block_owned_fn *fn, void *arg)
{
	uint32_t i;

	for (i = 0; table.words && i < PLACES; i++) {
		uint64_t word = atomic_load(&table.words[i]), id;
		struct block *b = &table.blocks[i];
		struct block_there there;
		uint32_t now;

		if (!is_block(word))
			continue;
		id = atomic_load(&b->id);
		there = (struct block_there){atomic_load(&b->weight) << LEVEL(word), atomic_load(&b->time),
					     atomic_load(&b->owner)};
		if (!id || atomic_load(&b->id) != id || ADDRESS(atomic_load(&table.words[i])) != ADDRESS(word))
			continue; /* it was freed this moment */
		now = fn(&there, arg);
		if (now != there.owner)
			blocks_own(id, now);
	}
}

void blocks_gather(void)
{
	table.gathered = atomic_load(&table.noted);
}

uint64_t blocks_freed(bool wanted, block_freed_fn *fn, void *arg)
{
	uint64_t at = atomic_load(&table.told);

	atomic_store(&table.notes, wanted);
	for (; at < table.gathered; at++) {
		const struct freed *f = &table.freed[at % FREED];

		if (atomic_load(&table.freed[at % FREED].number) != at + 1)
			break; /* its thread was interrupted: the next time */
		if (wanted)
			fn(f->time, f->record, f->address, 0, arg);
		atomic_store(&table.told, at + 1);
	}
	return atomic_exchange(&table.missed, 0);
}

void blocks_clear(void)
{
	uint32_t i;

	blocks_gather();
	blocks_freed(false, NULL, NULL);
	for (i = 0; table.words && i < PLACES; i++) {
		uint64_t word = atomic_load_explicit(&table.words[i], memory_order_relaxed);

		while (is_block(word) && !empty(&table.words[i], word))
			word = atomic_load(&table.words[i]);
	}
	atomic_store(&table.level, 0);
	/* until the collector says whether they are wanted: none is missed */
	atomic_store(&table.notes, true);
}

struct blocks_state blocks_now(void)
{
	return (struct blocks_state){atomic_load(&table.count), atomic_load(&table.level)};
}
