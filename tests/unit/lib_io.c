#include "lib_io.h"

#include <fcntl.h>
#include <unistd.h>

/* Calls, not addresses: those would be slots of data, which are bound at once. And no jumps: the caller is this. */
#define CALL(name, type, parameters, arguments)        \
	static type call_##name parameters             \
	{                                              \
		type volatile result = name arguments; \
		return result;                         \
	}

CALL(read, ssize_t, (int fd, void *to, size_t size), (fd, to, size))
CALL(write, ssize_t, (int fd, const void *from, size_t size), (fd, from, size))
CALL(pread, ssize_t, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
CALL(pwrite, ssize_t, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
CALL(readv, ssize_t, (int fd, const struct iovec *parts, int count), (fd, parts, count))
CALL(writev, ssize_t, (int fd, const struct iovec *parts, int count), (fd, parts, count))
CALL(recvfrom, ssize_t, (int fd, void *to, size_t size, int flags, struct sockaddr *peer, socklen_t *length),
     (fd, to, size, flags, peer, length))
CALL(sendto, ssize_t, (int fd, const void *from, size_t size, int flags, const struct sockaddr *peer, socklen_t length),
     (fd, from, size, flags, peer, length))
CALL(sendmsg, ssize_t, (int fd, const struct msghdr *m, int flags), (fd, m, flags))
CALL(recvmsg, ssize_t, (int fd, struct msghdr *m, int flags), (fd, m, flags))
CALL(accept, int, (int fd, struct sockaddr *peer, socklen_t *length), (fd, peer, length))
CALL(connect, int, (int fd, const struct sockaddr *peer, socklen_t length), (fd, peer, length))
CALL(open, int, (const char *path, int flags, mode_t mode), (path, flags, mode))
CALL(fsync, int, (int fd), (fd))

__attribute__((visibility("default"))) const struct io_slots *io_slots(void);

const struct io_slots *io_slots(void)
{
	static const struct io_slots slots = {
		call_read, call_write, call_pread, call_pwrite, call_readv, call_writev, call_recvfrom, call_sendto,
		call_sendmsg, call_recvmsg, call_accept, call_connect, call_open, call_fsync,
	};

	return &slots;
}
