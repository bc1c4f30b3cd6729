/*
 * process_maps.c - the files that a process has mapped.
 */
#include "cli/attach/process.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/foreign.h"

/* 65,530 mappings, the most by default, of files with names of 1,000 bytes. */
#define MAPS_MAX (64u << 20)

/* The path in a line of maps, to its end, NULL if it has none. *OLD: it ended in " (deleted)". */
static char *mapped_path(char *line, bool *old)
{
	static const char deleted[] = " (deleted)";
	char *path = strchr(line, '/');
	size_t n;

	if (!path)
		return NULL;
	n = strlen(path);
	*old = n > strlen(deleted) && strcmp(path + n - strlen(deleted), deleted) == 0;
	if (*old)
		path[n - strlen(deleted)] = '\0';
	return path;
}

int maps_each(int fd, bool (*fn)(const char *path, bool old, void *arg), void *arg)
{
	struct foreign_lines lines;
	bool old, more = true;
	char *line, *path;

	foreign_lines_open(&lines, fd, MAPS_MAX);
	while (more && (line = foreign_line(&lines))) {
		path = mapped_path(line, &old);
		more = !path || fn(path, old, arg);
	}
	foreign_lines_close(&lines);
	return -lines.failed;
}

/* A process whose root is a folder of a file system (chroot), and who wants to hear of its paths. */
struct rooted {
	char root[PATH_MAX];
	size_t length; /* 0: its root is that of its file systems */
	bool (*fn)(const char *path, bool old, void *arg);
	void *arg;
};

/* The kernel tells paths as we see them; the process finds its files without its root before them. */
static bool as_it_sees(const char *path, bool old, void *arg)
{
	const struct rooted *r = arg;
	bool below = strncmp(path, r->root, r->length) == 0 && path[r->length] == '/';

	return r->fn(below ? path + r->length : path, old, r->arg);
}

int maps_of(pid_t pid, bool (*fn)(const char *path, bool old, void *arg), void *arg)
{
	struct rooted r = {.fn = fn, .arg = arg};
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	n = readlink(path, r.root, sizeof(r.root) - 1);
	r.length = n > 1 ? (size_t)n : 0;
	r.root[r.length] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = foreign_open(AT_FDCWD, path);
	return fd < 0 ? fd : maps_each(fd, as_it_sees, &r);
}

const char *maps_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
