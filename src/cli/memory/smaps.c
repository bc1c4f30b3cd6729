/*
 * smaps.c - /proc/PID/smaps: each mapping and what of it is resident. The only source of the table's sum.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/attach/foreign.h"
#include "cli/memory/resident.h"
#include "common/os/os.h"

#define SMAPS_MAX (256u << 20)         /* 65,530 mappings of 700 bytes, and longer names */
#define SMAPS_TIME (120 * NS_PER_S)    /* the kernel looks at each page */

/* "7f00-7f10 rw-p 00000000 fd:00 1234    /path" */
static bool begin_mapping(struct mappings *m, const char *line)
{
	static const char deleted[] = " (deleted)";
	unsigned long long start, end, offset, inode;
	struct mapping *item;
	char perms[5];
	int path = 0;
	size_t n;

	if (sscanf(line, "%llx-%llx %4s %llx %*x:%*x %llu %n", &start, &end, perms, &offset, &inode, &path) < 5 ||
	    end <= start)
		return false;
	item = VECTOR_PUSH(m);
	if (!item)
		return false;
	item->start = start;
	item->end = end;
	item->offset = offset;
	item->inode = inode;
	strcpy(item->perms, perms);
	item->path = strdup(path ? line + path : "");
	if (!item->path) {
		m->count--;
		return false;
	}
	n = strlen(item->path);
	if (n > strlen(deleted) && strcmp(item->path + n - strlen(deleted), deleted) == 0)
		item->path[n - strlen(deleted)] = '\0';
	return true;
}

/* "Rss:      12 kB" */
static void take_figure(struct mappings *m, const char *line)
{
	struct mapping *item = &m->items[m->count - 1];
	const char *colon = strchr(line, ':');
	uint64_t bytes = colon ? strtoull(colon + 1, NULL, 10) * 1024 : 0;

	if (!bytes)
		return;
	if (strncmp(line, "Rss:", 4) == 0) {
		item->rss += bytes;
		m->rss += bytes;
	} else if (strncmp(line, "Pss:", 4) == 0) {
		m->pss += bytes;
	} else if (strncmp(line, "Swap:", 5) == 0) {
		item->swap += bytes;
		m->swap += bytes;
	} else if (strncmp(line, "AnonHugePages:", 14) == 0 || strncmp(line, "ShmemPmdMapped:", 15) == 0) {
		item->huge += bytes;
		m->huge += bytes;
	} else if (strncmp(line, "Shared_Hugetlb:", 15) == 0 || strncmp(line, "Private_Hugetlb:", 16) == 0) {
		m->hugetlb += bytes;
	}
}

int mappings_read(int fd, struct mappings *m)
{
	struct foreign_lines lines;
	int failed;
	char *line;

	memset(m, 0, sizeof(*m));
	foreign_lines_open(&lines, fd, SMAPS_MAX);
	lines.until = os_monotonic() + SMAPS_TIME;
	while ((line = foreign_line(&lines)))
		/* a figure's name begins with a capital letter, an address does not */
		if (line[0] >= 'A' && line[0] <= 'Z') {
			if (m->count)
				take_figure(m, line);
		} else if (!begin_mapping(m, line) && !lines.failed) {
			lines.failed = EBADMSG;
		}
	failed = lines.failed;
	foreign_lines_close(&lines);
	return -failed;
}

void mappings_free(struct mappings *m)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		free(m->items[i].path);
	free(m->items);
	memset(m, 0, sizeof(*m));
}

const struct mapping *mappings_find(const struct mappings *m, uint64_t address)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->count && m->items[low].start <= address ? &m->items[low] : NULL;
}
