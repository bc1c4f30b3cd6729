/*
 * cgroup.c - the memory limit that the process is under: the tightest of its control groups, versions 1 and 2. A
 * process in a container is found from outside by its path; where that is not to be seen from here, by what it sees
 * itself.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/foreign.h"
#include "cli/memory/resident.h"

#define V1_NONE (1ull << 60) /* "no limit" is the largest number of pages there */

/* ROOT: the process's own file system; NULL: ours. */
static bool read_text(const struct root *root, const char *folder, const char *name, char *text, size_t size)
{
	char path[PATH_MAX + 64];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = root ? root_read(root, path) : foreign_open(AT_FDCWD, path);
	if (fd < 0)
		return false;
	n = foreign_read(fd, text, size);
	close(fd);
	return n > 0;
}

/* A number, or UINT64_MAX for "max". */
static bool read_number(const struct root *root, const char *folder, const char *name, uint64_t *value)
{
	char text[64];

	if (!read_text(root, folder, name, text, sizeof(text)))
		return false;
	*value = strncmp(text, "max", 3) == 0 ? UINT64_MAX : strtoull(text, NULL, 10);
	if (*value >= V1_NONE)
		*value = UINT64_MAX;
	return true;
}

static uint64_t stat_of(const struct root *root, const char *folder, const char *key)
{
	char text[8192];
	const char *line;
	size_t n = strlen(key);

	if (!read_text(root, folder, "memory.stat", text, sizeof(text)))
		return 0;
	for (line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
		if (strncmp(line, key, n) == 0 && line[n] == ' ')
			return strtoull(line + n, NULL, 10);
	return 0;
}

/* The path that /proc/PID/cgroup tells, of version 1 if there is a memory controller of it. */
static bool read_path(pid_t pid, int *version, char *path, size_t size)
{
	char text[16384], *line, *next;

	*version = 0;
	if (process_read(pid, "cgroup", text, sizeof(text)) <= 0)
		return false;
	for (line = text; line && *line; line = next) {
		char *controllers, *place;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		controllers = strchr(line, ':');
		place = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!place)
			continue;
		*place++ = '\0';
		controllers++;
		if (strcmp(controllers, "memory") == 0 || strncmp(controllers, "memory,", 7) == 0 ||
		    strstr(controllers, ",memory")) {
			*version = 1;
			snprintf(path, size, "%s", place);
			return true;
		}
		if (strncmp(line, "0:", 2) == 0 && !*controllers) {
			*version = 2;
			snprintf(path, size, "%s", place);
		}
	}
	return *version != 0;
}

static void take_group(const struct root *root, const char *folder, struct memory_cgroup *g)
{
	bool two = g->version == 2;
	uint64_t limit = UINT64_MAX, used = 0, swap = UINT64_MAX, swapped = 0, file;

	if (!read_number(root, folder, two ? "memory.current" : "memory.usage_in_bytes", &used))
		return;
	read_number(root, folder, two ? "memory.max" : "memory.limit_in_bytes", &limit);
	if (limit >= g->limit && g->used)
		return;
	read_number(root, folder, two ? "memory.swap.max" : "memory.memsw.limit_in_bytes", &swap);
	read_number(root, folder, two ? "memory.swap.current" : "memory.memsw.usage_in_bytes", &swapped);
	/* version 1 tells memory and swap together */
	if (!two) {
		swapped -= MIN(swapped, used);
		swap = swap == UINT64_MAX || limit == UINT64_MAX ? UINT64_MAX : swap - MIN(swap, limit);
	}
	file = stat_of(root, folder, two ? "inactive_file" : "total_inactive_file");
	*g = (struct memory_cgroup){g->version, limit, used, file, swap, swapped};
}

/* PATH below the mount point TOP, and all above it. */
static bool look_below(const struct root *root, const char *top, const char *path, struct memory_cgroup *g)
{
	char folder[PATH_MAX];
	char *slash;

	snprintf(folder, sizeof(folder), "%s%s", top, strcmp(path, "/") == 0 ? "" : path);
	while (strlen(folder) >= strlen(top)) {
		take_group(root, folder, g);
		slash = strrchr(folder, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	return g->used > 0;
}

void memory_read_cgroup(pid_t pid, struct memory_cgroup *g)
{
	static const char *const one[] = {"/sys/fs/cgroup/memory", NULL};
	static const char *const two[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", NULL};
	const char *const *top;
	char path[PATH_MAX / 2];
	struct root root;
	int version;

	*g = (struct memory_cgroup){.limit = UINT64_MAX};
	if (!read_path(pid, &version, path, sizeof(path)))
		return;
	g->version = version;
	for (top = version == 1 ? one : two; *top; top++)
		if (!strstr(path, "/..") && look_below(NULL, *top, path, g))
			return;
	/* another cgroup namespace, or none mounted here: what the process sees as its root */
	if (root_of(pid, &root) == 0)
		for (top = version == 1 ? one : two; *top && !g->used; top++)
			look_below(&root, *top, "/", g);
	root_close(&root);
	if (!g->used)
		g->version = 0;
}
