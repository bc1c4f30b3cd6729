/*
 * entries.h - how much is in a folder: descriptors in /proc/self/fd, threads in /proc/self/task, files a test has made.
 * For tests, behind cmocka.h.
 */
#ifndef ENTRIES_H
#define ENTRIES_H

#include <dirent.h>

/* Entries of FOLDER without "." and ".."; the descriptor that reads /proc/self/fd is one of those there. */
static inline unsigned entries(const char *folder)
{
	DIR *d = opendir(folder);
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static inline unsigned descriptors(void)
{
	return entries("/proc/self/fd");
}

#endif
