/*
 * io_statx.h - which file, socket or pipe a descriptor leads to, so that another one is known to be another. Inner
 * header of the sources room.
 *
 * Of the call statx, which a libc may not have, and its struct (linux/stat.h, since Linux 4.11). It asks for what the
 * kernel knows without the server of a network's file system. An older kernel, or a filter of system calls, has fstat
 * alone, and no times of birth.
 */
#ifndef AGENT_SOURCES_IO_IO_STATX_H
#define AGENT_SOURCES_IO_IO_STATX_H

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/base.h"

struct io_identity {
	uint64_t device, inode;
	uint64_t born; /* ns since 1970; 0: not known */
	uint16_t mode;
};

struct io_statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, unused;
	uint64_t inode, size, blocks, attributes_mask;
	struct {
		int64_t s;
		uint32_t ns;
		int32_t unused;
	} accessed, born, changed, modified;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t further[14];
};
_Static_assert(sizeof(struct io_statx) == 256, "the kernel's");

#define IO_STATX_EMPTY_PATH 0x1000
#define IO_STATX_DONT_SYNC 0x4000
#define IO_STATX_TYPE 0x1u
#define IO_STATX_INODE 0x100u
#define IO_STATX_BORN 0x800u

/* What FD leads to. False: to nothing. errno changes. */
static inline bool io_identify(int fd, struct io_identity *i)
{
	struct stat st;

#ifdef SYS_statx
	struct io_statx x;

	if (syscall(SYS_statx, fd, "", IO_STATX_EMPTY_PATH | IO_STATX_DONT_SYNC,
		    IO_STATX_TYPE | IO_STATX_INODE | IO_STATX_BORN, &x) == 0) {
		*i = (struct io_identity){
			.device = (uint64_t)x.dev_major << 32 | x.dev_minor, .inode = x.inode, .mode = x.mode,
			.born = x.mask & IO_STATX_BORN ? (uint64_t)x.born.s * NS_PER_S + x.born.ns : 0,
		};
		return true;
	}
#endif
	if (fstat(fd, &st))
		return false;
	*i = (struct io_identity){.device = st.st_dev, .inode = st.st_ino, .mode = (uint16_t)st.st_mode};
	return true;
}

static inline bool io_identity_equals(const struct io_identity *a, const struct io_identity *b)
{
	return a->inode == b->inode && a->device == b->device && a->born == b->born && a->mode == b->mode;
}

#endif
