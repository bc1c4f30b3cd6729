/*
 * files.c - what the name of a mapping says of it.
 */
#include <string.h>

#include "cli/memory/resident.h"
#include "common/base/ascii.h"

static bool ends(const char *text, const char *end)
{
	size_t n = strlen(text), e = strlen(end);

	return n >= e && strcmp(text + n - e, end) == 0;
}

/* "libx.so", "libx.so.6", "ld-musl-x86_64.so.1" */
static bool is_library(const char *path)
{
	const char *so = strstr(maps_name(path), ".so");

	return so && (so[3] == '\0' || so[3] == '.' || so[3] == '-');
}

enum memory_line memory_line_of_mapping(const struct mapping *m)
{
	const char *path = m->path;

	if (text_begins(path, "[v") || text_begins(path, "[uprobes]"))
		return MEMORY_kernel;
	if (text_begins(path, "[heap]"))
		return MEMORY_malloc_used;
	/* glibc.mem.decorate_maps, and what kernels before 4.5 knew */
	if (text_begins(path, "[anon: glibc: malloc"))
		return MEMORY_malloc_used;
	if (text_begins(path, "[stack") || text_begins(path, "[anon: glibc: pthread stack"))
		return MEMORY_stacks_other;
	if (path[0] == '[' || path[0] == '\0')
		return MEMORY_unnamed;
	/* what ZGC keeps the heap in, also in huge pages */
	if (text_begins(path, "/memfd:java_heap"))
		return MEMORY_java_heap;
	if (text_begins(path, "/memfd:") || text_begins(path, "/SYSV") || text_begins(path, "/dev/shm/") ||
	    text_begins(path, "/dev/zero") || text_begins(path, "/anon_hugepage"))
		return MEMORY_shared;
	if (ends(path, ".jsa") || ends(path, ".aot"))
		return MEMORY_cds;
	if (strstr(path, "/hsperfdata_"))
		return MEMORY_vm;
	if (is_library(path))
		return MEMORY_libraries;
	return MEMORY_mapped;
}
