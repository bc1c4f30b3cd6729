/*
 * file_identity.h - which file an open descriptor is, and whether it still is: a program may close all descriptors that
 * it finds, ours as well, and then has files of its own under their numbers.
 */
#ifndef JSTROBE_BASE_FILE_IDENTITY_H
#define JSTROBE_BASE_FILE_IDENTITY_H

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

struct file_identity {
	dev_t device;
	ino_t number;
};

/* The file that ST is of. */
static inline struct file_identity file_identity_in(const struct stat *st)
{
	return (struct file_identity){st->st_dev, st->st_ino};
}

static inline bool file_identity_same(struct file_identity a, struct file_identity b)
{
	return a.device == b.device && a.number == b.number;
}

/* The file that FD is; of none, nothing that a file is. Any thread, and handlers. */
static inline struct file_identity file_identity_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		memset(&st, 0, sizeof(st));
	return file_identity_in(&st);
}

#endif
