/*
 * maps.c - what is mapped where, from /proc/self/maps.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/proc_self.h"
#include "common/os/os.h"

int os_mapped_file(uintptr_t address, char *path, size_t size, uint64_t *offset)
{
	char self[PROC_SELF_MAX];
	FILE *maps = fopen(proc_self(self, "maps"), "re");
	char line[1024], name[768];
	int rc = -ENOENT;

	if (!maps)
		return -errno;
	while (rc == -ENOENT && fgets(line, sizeof(line), maps)) {
		unsigned long long start, end, at;

		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %767[^\n]", &start, &end, &at, name) != 4 ||
		    address < start || address >= end || name[0] != '/')
			continue;
		*offset = address - start + at;
		rc = strlen(name) < size ? 0 : -ENAMETOOLONG;
		if (rc == 0)
			strcpy(path, name);
	}
	fclose(maps);
	return rc;
}

int os_each_mapping(os_mapping_fn *fn, void *arg)
{
	char self[PROC_SELF_MAX];
	FILE *maps = fopen(proc_self(self, "maps"), "re");
	unsigned long long start, end;
	bool begins = true;
	char line[512];

	if (!maps)
		return -errno;
	/* a long path comes in several pieces */
	for (; fgets(line, sizeof(line), maps); begins = strchr(line, '\n') != NULL)
		if (begins && sscanf(line, "%llx-%llx", &start, &end) == 2)
			fn(start, end, arg);
	fclose(maps);
	return 0;
}
