#include "agent/sources/io/io_hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "agent/hooks/got.h"
#include "agent/hooks/hooked_calls.h"
#include "agent/sources/io/io_targets.h"
#include "agent/zone/zone.h"

struct timed_calls io_calls;
_Static_assert(IO_OPERATIONS <= TIMED_KINDS, "operations are the kinds of calls, see io_word");

static io_sampled_fn *_Atomic told;

/* ---- what the program calls ---- */

static __attribute__((noinline)) void sample(const struct timed_call *call, const struct io_call *what,
					     struct walk_caller from)
{
	io_sampled_fn *fn = atomic_load_explicit(&told, memory_order_acquire);
	int saved = errno;

	if (fn && !zone_in_child())
		fn(call, what, &from);
	errno = saved;
}

/* The kernel has met memory of the caller's that is not there: it is counted, and what a sample says is not read. */
static bool has_bad_address(ssize_t result)
{
	return result < 0 && errno == EFAULT;
}

static uint64_t room_of(const struct iovec *parts, int count)
{
	uint64_t bytes = 0;
	int i;

	for (i = 0; i < count; i++)
		bytes += parts[i].iov_len;
	return bytes;
}

/* Where the call brought no address: the kernel left the length as it was, or said that there is none. */
static const struct sockaddr *peer_in(const struct sockaddr *address, const socklen_t *length)
{
	return address && length && *length >= sizeof(address->sa_family) ? address : NULL;
}

/*
 * ours_NAME, which has PARAMETERS, passes ARGUMENTS on, and is about FD. OF says what a sample has besides, in terms of
 * the call's `result`. Nothing of ours stands between the program and what it calls: a call that is cancelled, or never
 * comes back, leaves nothing behind but that it has not ended, until the thread's next one.
 */
#define CALL(name, type, parameters, arguments, operation_, fd_, ...)                                      \
	static type(*theirs_##name) parameters;                                                            \
	static type ours_##name parameters                                                                 \
	{                                                                                                  \
		struct timed_call call;                                                                    \
		type result;                                                                               \
                                                                                                           \
		timed_begin(&io_calls, &call, io_word(IO_##operation_, fd_));                              \
		result = theirs_##name arguments;                                                          \
		if (timed_end(&io_calls, &call, IO_##operation_, result > 0 ? (uint64_t)result : 0) &&     \
		    !has_bad_address(result))                                                              \
			sample(&call, &(struct io_call){.operation = IO_##operation_, .fd = (fd_),         \
							.result = result, __VA_ARGS__}, WALK_CALLER);      \
		return result;                                                                             \
	}

CALL(read, ssize_t, (int fd, void *to, size_t size), (fd, to, size), READ, fd, .wanted = size)
CALL(write, ssize_t, (int fd, const void *from, size_t size), (fd, from, size), WRITE, fd, .wanted = size)
CALL(pread, ssize_t, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), READ, fd, .wanted = size)
CALL(pwrite, ssize_t, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at), WRITE, fd,
     .wanted = size)
CALL(pread64, ssize_t, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at), READ, fd, .wanted = size)
CALL(pwrite64, ssize_t, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at), WRITE, fd,
     .wanted = size)
CALL(readv, ssize_t, (int fd, const struct iovec *parts, int count), (fd, parts, count), READ, fd,
     .wanted = room_of(parts, count))
CALL(writev, ssize_t, (int fd, const struct iovec *parts, int count), (fd, parts, count), WRITE, fd,
     .wanted = room_of(parts, count))
CALL(preadv, ssize_t, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at), READ, fd,
     .wanted = room_of(parts, count))
CALL(pwritev, ssize_t, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at), WRITE, fd,
     .wanted = room_of(parts, count))
CALL(preadv64, ssize_t, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at), READ, fd,
     .wanted = room_of(parts, count))
CALL(pwritev64, ssize_t, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at), WRITE,
     fd, .wanted = room_of(parts, count))
CALL(recv, ssize_t, (int fd, void *to, size_t size, int flags), (fd, to, size, flags), READ, fd, .wanted = size)
CALL(send, ssize_t, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags), WRITE, fd,
     .wanted = size)
CALL(recvfrom, ssize_t, (int fd, void *to, size_t size, int flags, struct sockaddr *peer, socklen_t *length),
     (fd, to, size, flags, peer, length), READ, fd, .wanted = size,
     .peer = result < 0 ? NULL : peer_in(peer, length), .peer_length = peer && length ? *length : 0)
CALL(sendto, ssize_t, (int fd, const void *from, size_t size, int flags, const struct sockaddr *peer, socklen_t length),
     (fd, from, size, flags, peer, length), WRITE, fd, .wanted = size, .peer = peer_in(peer, &length),
     .peer_length = length)
CALL(recvmsg, ssize_t, (int fd, struct msghdr *m, int flags), (fd, m, flags), READ, fd,
     .wanted = room_of(m->msg_iov, (int)m->msg_iovlen),
     .peer = result < 0 ? NULL : peer_in(m->msg_name, &m->msg_namelen), .peer_length = m->msg_namelen)
CALL(sendmsg, ssize_t, (int fd, const struct msghdr *m, int flags), (fd, m, flags), WRITE, fd,
     .wanted = room_of(m->msg_iov, (int)m->msg_iovlen), .peer = peer_in(m->msg_name, &m->msg_namelen),
     .peer_length = m->msg_namelen)
CALL(connect, int, (int fd, const struct sockaddr *peer, socklen_t length), (fd, peer, length), CONNECT, fd,
     .peer = peer_in(peer, &length), .peer_length = length)
CALL(fsync, int, (int fd), (fd), SYNC, fd, .wanted = 0)
CALL(fdatasync, int, (int fd), (fd), SYNC, fd, .wanted = 0)
CALL(sendfile, ssize_t, (int to, int from, off_t *at, size_t size), (to, from, at, size), SENDFILE, to, .wanted = size)
CALL(sendfile64, ssize_t, (int to, int from, off64_t *at, size_t size), (to, from, at, size), SENDFILE, to,
     .wanted = size)
/* what a compiler calls that knows how much room there is (_FORTIFY_SOURCE) */
CALL(__read_chk, ssize_t, (int fd, void *to, size_t size, size_t room), (fd, to, size, room), READ, fd, .wanted = size)
CALL(__pread_chk, ssize_t, (int fd, void *to, size_t size, off_t at, size_t room), (fd, to, size, at, room), READ, fd,
     .wanted = size)
CALL(__pread64_chk, ssize_t, (int fd, void *to, size_t size, off64_t at, size_t room), (fd, to, size, at, room), READ,
     fd, .wanted = size)
CALL(__recv_chk, ssize_t, (int fd, void *to, size_t size, size_t room, int flags), (fd, to, size, room, flags), READ,
     fd, .wanted = size)
CALL(__recvfrom_chk, ssize_t,
     (int fd, void *to, size_t size, size_t room, int flags, struct sockaddr *peer, socklen_t *length),
     (fd, to, size, room, flags, peer, length), READ, fd, .wanted = size,
     .peer = result < 0 ? NULL : peer_in(peer, length), .peer_length = peer && length ? *length : 0)

/* Who comes in by FD is a client: seen at each, before anything is read from it. */
#define ACCEPT(name, parameters, arguments)                                                                \
	static int(*theirs_##name) parameters;                                                             \
	static int ours_##name parameters                                                                  \
	{                                                                                                  \
		struct timed_call call;                                                                    \
		int result, saved;                                                                         \
                                                                                                           \
		timed_begin(&io_calls, &call, io_word(IO_ACCEPT, fd));                                     \
		result = theirs_##name arguments;                                                          \
		saved = errno;                                                                             \
		if (result >= 0 && call.stream && !zone_in_child())                                        \
			io_targets_listens(fd);                                                            \
		errno = saved;                                                                             \
		if (timed_end(&io_calls, &call, IO_ACCEPT, 0))                                             \
			sample(&call, &(struct io_call){.operation = IO_ACCEPT, .fd = fd,                  \
							.result = result < 0 ? result : 0}, WALK_CALLER);  \
		return result;                                                                             \
	}
ACCEPT(accept, (int fd, struct sockaddr *peer, socklen_t *length), (fd, peer, length))
ACCEPT(accept4, (int fd, struct sockaddr *peer, socklen_t *length, int flags), (fd, peer, length, flags))

/* The mode is there or is not, which the callee knows: what stands in its place is passed on as it is. */
#define OPEN(name, parameters, theirs, arguments)                                                          \
	static int(*theirs_##name) theirs;                                                                 \
	static int ours_##name parameters                                                                  \
	{                                                                                                  \
		struct timed_call call;                                                                    \
		int result;                                                                                \
                                                                                                           \
		timed_begin(&io_calls, &call, io_word(IO_OPEN, -1));                                       \
		result = theirs_##name arguments;                                                          \
		if (timed_end(&io_calls, &call, IO_OPEN, 0) && !has_bad_address(result))                   \
			sample(&call, &(struct io_call){.operation = IO_OPEN, .fd = result, .path = path,  \
							.result = result < 0 ? result : 0}, WALK_CALLER);  \
		return result;                                                                             \
	}
OPEN(open, (const char *path, int flags, mode_t mode), (const char *, int, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, mode_t mode), (const char *, int, ...), (path, flags, mode))
OPEN(openat, (int at, const char *path, int flags, mode_t mode), (int, const char *, int, ...),
     (at, path, flags, mode))
OPEN(openat64, (int at, const char *path, int flags, mode_t mode), (int, const char *, int, ...),
     (at, path, flags, mode))
OPEN(__open_2, (const char *path, int flags), (const char *, int), (path, flags))
OPEN(__open64_2, (const char *path, int flags), (const char *, int), (path, flags))

/* ---- in and out ---- */

static const struct hooked_call calls[] = {
#define FUNCTION(name) {#name, (void *)ours_##name, (void **)&theirs_##name}
	FUNCTION(read), FUNCTION(write), FUNCTION(pread), FUNCTION(pwrite), FUNCTION(pread64), FUNCTION(pwrite64),
	FUNCTION(readv), FUNCTION(writev), FUNCTION(preadv), FUNCTION(pwritev), FUNCTION(preadv64),
	FUNCTION(pwritev64), FUNCTION(recv), FUNCTION(send), FUNCTION(recvfrom), FUNCTION(sendto), FUNCTION(recvmsg),
	FUNCTION(sendmsg), FUNCTION(connect), FUNCTION(fsync), FUNCTION(fdatasync), FUNCTION(sendfile),
	FUNCTION(sendfile64), FUNCTION(accept), FUNCTION(accept4), FUNCTION(open), FUNCTION(open64), FUNCTION(openat),
	FUNCTION(openat64), FUNCTION(__open_2), FUNCTION(__open64_2), FUNCTION(__read_chk), FUNCTION(__pread_chk),
	FUNCTION(__pread64_chk), FUNCTION(__recv_chk), FUNCTION(__recvfrom_chk),
};
_Static_assert(ARRAY_LEN(calls) <= HOOKED_CALLS_MAX, "hooked_calls has room for them");

static struct hooked_calls hooks = {.calls = calls, .count = ARRAY_LEN(calls)};

void io_hooks_refresh(void)
{
	bool news = hooks.installed && hooks.changes != got_image_changes();

	hooked_calls_refresh(&hooks);
	/* what a library has begun to wait for before it was hooked */
	if (news)
		io_targets_look();
}

bool io_hooks_install(io_sampled_fn *fn)
{
	if (!hooked_calls_install(&hooks))
		return false;
	atomic_store(&told, fn);
	atomic_store(&io_calls.on, true);
	return true;
}

void io_hooks_remove(void)
{
	timed_halt(&io_calls);
	atomic_store(&told, NULL);
	hooked_calls_remove(&hooks);
}
