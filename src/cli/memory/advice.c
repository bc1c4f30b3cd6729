/*
 * advice.c - what follows from the figures, in sentences. Each is said only where its figures hold.
 */
#include <stdio.h>

#include "cli/memory/resident.h"
#include "common/base/buffer.h"

#define MB (1ull << 20)
#define NOTABLE (32 * MB)

static bool is_much(const struct memory_reading *r, uint64_t bytes)
{
	return bytes >= NOTABLE && bytes * 20 >= r->maps.rss;
}

static void about_limit(const struct memory_reading *r, struct buffer *out)
{
	const struct memory_cgroup *g = &r->cgroup;
	char a[24], b[24], c[24], d[24];
	uint64_t needed = g->used - MIN(g->used, g->file);

	if (!g->version || g->limit == UINT64_MAX)
		return;
	buffer_printf(out, "The control group's limit is %s; %s are charged to it, of which %s are file cache that the "
		      "kernel can drop: ", memory_size(g->limit, a), memory_size(g->used, b), memory_size(g->file, c));
	if (needed < g->limit)
		buffer_printf(out, "%s are left until the OOM killer comes.\n", memory_size(g->limit - needed, d));
	else
		buffer_puts(out, "nothing is left, and the OOM killer may come at any time.\n");
	if (r->counters.heap_max && r->counters.heap_max > g->limit)
		buffer_printf(out, "The heap may grow to %s, which is more than that limit: give a smaller -Xmx, or "
			      "-XX:MaxRAMPercentage.\n", memory_size(r->counters.heap_max, a));
	else if (r->counters.heap_max && r->lines[MEMORY_java_heap] < r->counters.heap_max &&
		 r->counters.heap_max - r->lines[MEMORY_java_heap] > g->limit - MIN(needed, g->limit))
		buffer_printf(out, "The heap may still grow by %s, more than is left: with a full heap this process "
			      "does not fit.\n", memory_size(r->counters.heap_max - r->lines[MEMORY_java_heap], a));
}

static void about_malloc(const struct memory_reading *r, struct buffer *out)
{
	const struct memory_malloc *m = &r->malloc;
	char a[24];

	if (m->known && is_much(r, r->lines[MEMORY_malloc_free]))
		buffer_printf(out, "%s are free memory that glibc keeps in %u arena%s: %sgives it back.\n",
			      memory_size(r->lines[MEMORY_malloc_free], a), m->arenas, m->arenas == 1 ? "" : "s",
			      m->arenas > 8 ? "MALLOC_ARENA_MAX=2 at the start keeps it small, a trim (`jcmd PID "
					      "System.trim_native_heap`, JDK 17 and later) " :
					      "a trim (`jcmd PID System.trim_native_heap`, JDK 17 and later) ");
	if (m->known && !m->free_known)
		buffer_puts(out, "How much of malloc's memory is free could not be read in all arenas: they changed "
				 "meanwhile. What could not be read counts as in use.\n");
}

static void about_heap(const struct memory_reading *r, struct buffer *out)
{
	uint64_t heap = r->lines[MEMORY_java_heap], used = r->counters.heap_used;
	char a[24], b[24];

	if (r->counters.collections && used && heap > used && is_much(r, heap - used) && (heap - used) * 2 > heap)
		buffer_printf(out, "The heap has %s resident; when the JVM last counted, %s of it were in use. The JVM "
			      "keeps what it has once touched until a collector gives it back (G1: after a concurrent "
			      "cycle; -XX:G1PeriodicGCInterval, -XX:MaxHeapFreeRatio; ZGC: -XX:ZUncommitDelay).\n",
			      memory_size(heap, a), memory_size(used, b));
}

static void about_pages(const struct memory_reading *r, struct buffer *out)
{
	uint64_t stacks = 0, i;
	char a[24];

	if (is_much(r, r->maps.swap))
		buffer_printf(out, "%s of it are swapped out: each collection has to bring in what it visits.\n",
			      memory_size(r->maps.swap, a));
	for (i = 0; i < r->maps.count; i++) {
		const struct mapping *m = &r->maps.items[i];

		if (mapping_is_anonymous(m) && m->huge && m->end - m->start <= 16 * MB && i > 0 &&
		    r->maps.items[i - 1].perms[0] == '-')
			stacks += m->huge;
	}
	if (is_much(r, stacks))
		buffer_printf(out, "%s of small mappings such as stacks are in transparent huge pages (%s): set "
			      "/sys/kernel/mm/transparent_hugepage/enabled to madvise.\n",
			      memory_size(stacks, a), r->thp);
	if (r->maps.hugetlb)
		buffer_printf(out, "Besides, %s are in reserved huge pages (hugetlbfs), which Rss does not count.\n",
			      memory_size(r->maps.hugetlb, a));
}

void memory_advice(const struct memory_reading *r, struct buffer *out)
{
	char a[24];

	about_limit(r, out);
	about_malloc(r, out);
	about_heap(r, out);
	about_pages(r, out);
	if (r->vm == PROCESS_HOTSPOT && !r->tables)
		buffer_puts(out, r->refused ?
			    "Its memory may not be read by this user, so the JVM's own tables are missing here and "
			    "parts of it have no name: run jstrobe as root, or with CAP_SYS_PTRACE "
			    "(kernel.yama.ptrace_scope).\n" :
			    "The JVM's own tables could not be read, so parts of its memory have no name.\n");
	if (r->lines[MEMORY_unnamed] * 20 > r->maps.rss && !r->refused)
		buffer_printf(out, "%s have no name here: memory that libraries have mapped by themselves, or another "
			      "malloc (jemalloc, tcmalloc).\n", memory_size(r->lines[MEMORY_unnamed], a));
}
