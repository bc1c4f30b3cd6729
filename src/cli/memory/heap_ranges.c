/*
 * heap_ranges.c - what the JVM's tables tell as ranges: the Java heap, the code heaps, the card table.
 */
#include <stdlib.h>

#include "cli/memory/resident.h"

#define CODE_HEAPS_MAX 8

/* A struct of the JVM that stands at AT: VirtualSpace. */
static bool space(struct peek *p, const struct vm_tables *t, uint64_t at, uint64_t *low, uint64_t *high)
{
	*low = vm_tables_at(t, p, at, "VirtualSpace", "_low_boundary");
	*high = vm_tables_at(t, p, at, "VirtualSpace", "_high_boundary");
	return *low && *low < *high;
}

/* The tables do not tell the names of code heaps, but their order is that of CodeBlobType. */
static const char *code_heap_name(uint64_t i, uint64_t count)
{
	static const char *const all[] = {"non-profiled", "profiled", "non-nmethods"};
	static const char *const numbered[CODE_HEAPS_MAX] = {"first", "second", "third", "fourth", "fifth", "sixth",
							     "seventh", "eighth"};

	return count == 1 ? "one heap" : count == ARRAY_LEN(all) ? all[i] : count == 2 ? all[i * 2] : numbered[i];
}

static void claim_code_heap(struct peek *p, const struct vm_tables *t, struct ranges *c, struct memory_reading *r,
			    uint64_t heap, const char *what)
{
	int64_t memory = vm_tables_offset(t, "CodeHeap", "_memory");
	int64_t segmap = vm_tables_offset(t, "CodeHeap", "_segmap");
	uint64_t low, high;

	if (memory < 0 || segmap < 0 || !heap)
		return;
	if (space(p, t, heap + (uint64_t)memory, &low, &high)) {
		ranges_add(c, low, high, MEMORY_code, what);
		r->code_committed += vm_tables_at(t, p, heap + (uint64_t)memory, "VirtualSpace", "_high") -
				     vm_tables_at(t, p, heap + (uint64_t)memory, "VirtualSpace", "_low");
	}
	if (space(p, t, heap + (uint64_t)segmap, &low, &high))
		ranges_add(c, low, high, MEMORY_code, "segment maps");
}

static void claim_code(struct peek *p, const struct vm_tables *t, struct ranges *c, struct memory_reading *r)
{
	uint64_t list = vm_tables_value(t, p, "CodeCache", "_heaps"), data, length, heap, i;
	int64_t count = vm_tables_offset(t, "GrowableArrayBase", "_len");

	if (!list) { /* JDK 8 */
		claim_code_heap(p, t, c, r, vm_tables_value(t, p, "CodeCache", "_heap"), code_heap_name(0, 1));
		return;
	}
	if (count < 0)
		count = vm_tables_offset(t, "GenericGrowableArray", "_len");
	if (count < 0 || !peek_word(p, list + (uint64_t)count, &length))
		return;
	length = MIN(length & 0xffffffff, CODE_HEAPS_MAX);
	data = vm_tables_at(t, p, list, "GrowableArray<int>", "_data");
	for (i = 0; i < length; i++)
		if (peek_word(p, data + i * sizeof(void *), &heap))
			claim_code_heap(p, t, c, r, heap, code_heap_name(i, length));
}

static void claim_heap(struct peek *p, const struct vm_tables *t, struct ranges *c, struct memory_reading *r)
{
	uint64_t heap = vm_tables_value(t, p, "Universe", "_collectedHeap"), start, bytes;
	int64_t reserved = vm_tables_offset(t, "CollectedHeap", "_reserved");

	if (!heap || reserved < 0)
		return;
	start = vm_tables_at(t, p, heap + (uint64_t)reserved, "MemRegion", "_start");
	bytes = vm_tables_at(t, p, heap + (uint64_t)reserved, "MemRegion", "_word_size") * sizeof(void *);
	/* ZGC's are offsets or views of files, which are called java_heap */
	if (!mappings_find(p->maps, start) || bytes > 1ull << 46)
		return;
	r->heap_reserved = bytes;
	ranges_add(c, start, start + bytes, MEMORY_java_heap, NULL);
}

static void claim_cards(struct peek *p, const struct vm_tables *t, struct ranges *c)
{
	uint64_t set = vm_tables_value(t, p, "BarrierSet", "_barrier_set"), table, map, bytes;

	table = vm_tables_at(t, p, set, "CardTableBarrierSet", "_card_table");
	map = vm_tables_at(t, p, table, "CardTable", "_byte_map");
	bytes = vm_tables_at(t, p, table, "CardTable", "_byte_map_size");
	if (mappings_find(p->maps, map) && bytes < 1ull << 40)
		ranges_add(c, map, map + bytes, MEMORY_gc, "card table");
}

void memory_claim_vm(struct peek *p, const struct vm_tables *t, struct ranges *c, struct memory_reading *r)
{
	claim_heap(p, t, c, r);
	claim_code(p, t, c, r);
	claim_cards(p, t, c);
}
