/* lib_io.h - a library that reads and writes by its own slots (test_sources_io.c). */
#ifndef TESTS_UNIT_LIB_IO_H
#define TESTS_UNIT_LIB_IO_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

struct io_slots {
	ssize_t (*read)(int fd, void *to, size_t size);
	ssize_t (*write)(int fd, const void *from, size_t size);
	ssize_t (*pread)(int fd, void *to, size_t size, off_t at);
	ssize_t (*pwrite)(int fd, const void *from, size_t size, off_t at);
	ssize_t (*readv)(int fd, const struct iovec *parts, int count);
	ssize_t (*writev)(int fd, const struct iovec *parts, int count);
	ssize_t (*recvfrom)(int fd, void *to, size_t size, int flags, struct sockaddr *peer, socklen_t *length);
	ssize_t (*sendto)(int fd, const void *from, size_t size, int flags, const struct sockaddr *peer,
			  socklen_t length);
	ssize_t (*sendmsg)(int fd, const struct msghdr *m, int flags);
	ssize_t (*recvmsg)(int fd, struct msghdr *m, int flags);
	int (*accept)(int fd, struct sockaddr *peer, socklen_t *length);
	int (*connect)(int fd, const struct sockaddr *peer, socklen_t length);
	int (*open)(const char *path, int flags, mode_t mode);
	int (*fsync)(int fd);
};

typedef const struct io_slots *io_slots_fn(void);

#endif
