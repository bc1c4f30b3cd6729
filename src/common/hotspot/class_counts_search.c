/*
 * class_counts_search.c - the same counts where neither performance data nor symbols tell where they are: a stripped
 * libjvm with -XX:-UsePerfData (Debian's JDK 8).
 *
 * The JVM makes each count as an object on the C heap and keeps it in a static field. An object of class PerfData
 * begins with its table of virtual functions, which lies in libjvm, and its name. So every word of libjvm's
 * writable segments is asked whether it points to one that is called "java.cls.unloadedClasses". Bytes are
 * copied by the kernel: a word that only looks like a pointer does no harm.
 */
#include <link.h>
#include <string.h>

#include "common/base/pages.h"
#include "common/elf/memory.h"
#include "common/hotspot/class_counts.h"

#define SEGMENT_MAX ((size_t)64 << 20)
#define NAME_MAX_LENGTH 40

struct perf_data {
	uintptr_t virtuals, name;
};

/* Where libjvm lies, with its data. */
struct extent {
	uintptr_t bias, low, high;
	uintptr_t data[4], data_end[4]; /* writable segments */
	unsigned count;
};

static int note_segments(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct extent *e = arg;
	ElfW(Half) i;

	(void)size;
	if (info->dlpi_addr != e->bias)
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = e->bias + p->p_vaddr, to = from + p->p_memsz;

		if (p->p_type != PT_LOAD)
			continue;
		e->low = MIN(e->low, from);
		e->high = MAX(e->high, to);
		if (!(p->p_flags & PF_W) || e->count == ARRAY_LEN(e->data))
			continue;
		e->data[e->count] = (from + 7) & ~(uintptr_t)7;
		e->data_end[e->count++] = to;
	}
	return 1;
}

/* The number in NAMES of the PerfData that WORD points to; COUNT = it is none of them. */
static unsigned named(const struct extent *e, uintptr_t word, const char *const *names, unsigned count)
{
	char name[NAME_MAX_LENGTH + 1] = "";
	struct perf_data d;
	unsigned i;

	if (word < 4096 || (word & 7) || (word >= e->low && word < e->high) ||
	    memory_copy(&d, word, sizeof(d)) < sizeof(d) || d.virtuals < e->low || d.virtuals >= e->high)
		return count;
	memory_copy(name, d.name, NAME_MAX_LENGTH);
	for (i = 0; i < count && strcmp(name, names[i]) != 0; i++)
		;
	return i;
}

static void search(const struct extent *e, uintptr_t from, uintptr_t to, const struct class_count_names *n,
		   uintptr_t *found)
{
	size_t size = to > from ? (to - from) & ~(size_t)7 : 0, i, words;
	uintptr_t *copy = size && size <= SEGMENT_MAX ? pages_alloc(size) : NULL;
	unsigned which;

	if (!copy)
		return;
	words = memory_copy(copy, from, size) / sizeof(*copy);
	for (i = 0; i < words; i++) {
		which = named(e, copy[i], n->entries, n->count);
		if (which < n->count)
			found[which] = copy[i];
	}
	pages_free(copy, size);
}

void class_counts_search(const struct image *libjvm, const struct class_count_names *names, uintptr_t *found)
{
	struct extent e = {.bias = libjvm->bias, .low = UINTPTR_MAX};
	unsigned i;

	dl_iterate_phdr(note_segments, &e);
	for (i = 0; i < e.count; i++)
		search(&e, e.data[i], e.data_end[i], names, found);
}
