#include "agent/sources/io/io_targets.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/sources/io/io_statx.h"
#include "common/base/clock_ns.h"
#include "common/base/hash.h"
#include "common/base/proc_self.h"
#include "common/os/os.h"

#define DESCRIPTORS 65536u
#define PROBES 16u
#define PORTS 65536u
#define TICKS (20 * NS_PER_MS) /* two of the longest there are */

/* What a descriptor led to when it was looked up. */
struct known {
	_Atomic uint32_t busy; /* a thread is at it */
	bool set;
	struct io_identity identity;
	struct io_target target;
};

enum { FREE, WRITING, READY };

struct name {
	_Atomic uint32_t state;
	char text[IO_NAME];
};

static struct {
	struct known *known; /* DESCRIPTORS */
	struct name *names;  /* IO_NAMES: those of kinds first */
	_Atomic uint8_t listens[PORTS / 8];
} targets;

/* ---- names ---- */

static uint32_t number_of(const char *text, enum io_kind kind)
{
	size_t length = strlen(text);
	uint64_t at;
	uint32_t i;

	if (length >= IO_NAME)
		text += length - (IO_NAME - 1);
	at = hash_mix(hash_bytes(HASH_BEGIN, text, strlen(text)));
	for (i = 0; i < PROBES; i++) {
		uint32_t slot = (uint32_t)(IO_KINDS + (at + i) % (IO_NAMES - IO_KINDS)), expected = FREE;
		struct name *n = &targets.names[slot];
		uint32_t state = atomic_load_explicit(&n->state, memory_order_acquire);

		if (state == FREE && atomic_compare_exchange_strong(&n->state, &expected, WRITING)) {
			strcpy(n->text, text);
			atomic_store_explicit(&n->state, READY, memory_order_release);
			return IO_NAMES_FIRST + slot;
		}
		if (state == READY && strcmp(n->text, text) == 0)
			return IO_NAMES_FIRST + slot;
	}
	return IO_NAMES_FIRST + kind;
}

const char *io_target_name(uint32_t number)
{
	uint32_t slot = number - IO_NAMES_FIRST;

	if (number < IO_NAMES_FIRST || slot >= IO_NAMES || !targets.names)
		return NULL;
	if (slot < IO_KINDS)
		return io_kind_names[slot].others;
	return atomic_load_explicit(&targets.names[slot].state, memory_order_acquire) == READY
		       ? targets.names[slot].text
		       : NULL;
}

/* ---- sockets ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
	struct sockaddr_storage room;
};

static uint16_t port_of(const union address *a)
{
	return a->any.sa_family == AF_INET ? ntohs(a->v4.sin_port) :
	       a->any.sa_family == AF_INET6 ? ntohs(a->v6.sin6_port) : 0;
}

/* The host of A, in brackets if it has colons; 0: there is none. */
static size_t put_host(const union address *a, char *out, size_t size)
{
	const uint8_t *b = a->any.sa_family == AF_INET ? (const uint8_t *)&a->v4.sin_addr : a->v6.sin6_addr.s6_addr;
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	int i, run = 0, longest = 0, at = -1, n = 0;

	if (a->any.sa_family != AF_INET && a->any.sa_family != AF_INET6)
		return 0;
	if (a->any.sa_family == AF_INET6 && memcmp(b, mapped, sizeof(mapped)) == 0)
		b += sizeof(mapped);
	else if (a->any.sa_family == AF_INET6)
		n = snprintf(out, size, "[");
	if (!n)
		return (size_t)snprintf(out, size, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
	for (i = 0; i < 8; i++) {
		run = b[2 * i] || b[2 * i + 1] ? 0 : run + 1;
		if (run > longest && run > 1) {
			longest = run;
			at = i + 1 - run;
		}
	}
	for (i = 0; i < 8; i++) {
		if (i == at) {
			n += snprintf(out + n, size - (size_t)n, "::");
			i += longest - 1;
			continue;
		}
		n += snprintf(out + n, size - (size_t)n, "%s%x", i && i != at + longest ? ":" : "",
			      b[2 * i] << 8 | b[2 * i + 1]);
	}
	return (size_t)(n + snprintf(out + n, size - (size_t)n, "]"));
}

/* "unix:/run/x.sock"; false: it has no name. */
static bool put_local(const union address *a, socklen_t length, char *out, size_t size)
{
	size_t room = offsetof(struct sockaddr_un, sun_path);
	int bytes = length > room ? (int)MIN(length - room, sizeof(a->local.sun_path)) : 0;

	if (a->any.sa_family != AF_UNIX || bytes < 2)
		return false;
	if (a->local.sun_path[0])
		snprintf(out, size, "unix:%.*s", bytes, a->local.sun_path);
	else
		snprintf(out, size, "unix:@%.*s", bytes - 1, a->local.sun_path + 1);
	return true;
}

static bool is_listened(uint16_t port)
{
	return port && atomic_load_explicit(&targets.listens[port / 8], memory_order_relaxed) >> port % 8 & 1;
}

static void listen_on(uint16_t port)
{
	if (port && !is_listened(port))
		atomic_fetch_or(&targets.listens[port / 8], (uint8_t)(1u << port % 8));
}

void io_targets_listens(int fd)
{
	union address own = {.any.sa_family = AF_UNSPEC};
	socklen_t length = sizeof(own);

	if (getsockname(fd, &own.any, &length) == 0)
		listen_on(port_of(&own));
}

static void name_socket(struct io_target *t, const union address *peer, socklen_t length, const union address *own,
			socklen_t own_length, bool stream)
{
	char text[IO_NAME], host[64];

	t->port = port_of(peer);
	if (put_host(peer, host, sizeof(host)) && stream && is_listened(port_of(own))) {
		t->serves = true;
		snprintf(text, sizeof(text), "%s (client of :%u)", host, port_of(own));
	} else if (put_host(peer, host, sizeof(host))) {
		snprintf(text, sizeof(text), "%s:%u", host, t->port);
	} else if (!put_local(peer, length, text, sizeof(text))) {
		/* a client of a local socket has no name: it is the one that was connected to that has */
		if (put_local(own, own_length, text, sizeof(text))) {
			t->serves = true;
			strncat(text, " (client)", sizeof(text) - strlen(text) - 1);
		} else {
			strcpy(text, own->any.sa_family == AF_UNIX ? "unix:(socketpair)" : "socket");
		}
	}
	t->name = number_of(text, IO_KIND_SOCKET);
}

/* One that has no peer. */
static void name_unconnected(struct io_target *t, int fd, const union address *own, socklen_t length)
{
	char text[IO_NAME];
	int listens = 0;
	socklen_t size = sizeof(listens);

	getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
	if (port_of(own))
		snprintf(text, sizeof(text), "%s :%u", listens ? "listening on" : "socket of", port_of(own));
	else if (!put_local(own, length, text, sizeof(text)))
		strcpy(text, "socket");
	t->serves = true;
	t->name = number_of(text, IO_KIND_SOCKET);
}

/* Whether what is known of FD from now on is the socket's own, and not of this call alone. */
static bool look_up_socket(struct io_target *t, int fd, const struct sockaddr *given, socklen_t length)
{
	union address peer = {.any.sa_family = AF_UNSPEC}, own = {.any.sa_family = AF_UNSPEC};
	socklen_t peer_length = sizeof(peer), own_length = sizeof(own), size = sizeof(int);
	int type = 0;

	getsockname(fd, &own.any, &own_length);
	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
	if (getpeername(fd, &peer.any, &peer_length) == 0) {
		name_socket(t, &peer, peer_length, &own, own_length, type == SOCK_STREAM);
		return true;
	}
	if (given && length >= sizeof(given->sa_family) && length <= sizeof(peer)) {
		memcpy(&peer, given, length);
		name_socket(t, &peer, length, &own, own_length, false);
		t->serves = type != SOCK_STREAM;
		return false;
	}
	name_unconnected(t, fd, &own, own_length);
	return false;
}

/* The ports that are listened on, of FILE in /proc; all of the network's namespace. */
static void read_listened(const char *file)
{
	FILE *table = fopen(file, "re");
	char line[256];
	unsigned port, state;

	while (table && fgets(line, sizeof(line), table))
		if (sscanf(line, "%*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", &port, &state) == 2 && state == 0x0a)
			listen_on((uint16_t)port);
	if (table)
		fclose(table);
}

/* ---- descriptors ---- */

static uint32_t name_of_link(int fd, enum io_kind kind)
{
	char link[PROC_SELF_MAX], text[4096];
	ssize_t n;

	n = readlink(proc_self_fd(link, fd), text, sizeof(text) - 1);
	if (n <= 0)
		return IO_NAMES_FIRST + kind;
	text[n] = '\0';
	/* "pipe:[12345]": each has a number of its own, which nothing goes by */
	if (kind == IO_KIND_PIPE && text[0] != '/')
		return number_of("pipe", kind);
	return number_of(text, kind);
}

static enum io_kind kind_of(uint16_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
	case S_IFBLK:
		return IO_KIND_FILE;
	case S_IFSOCK:
		return IO_KIND_SOCKET;
	case S_IFIFO:
		return IO_KIND_PIPE;
	case S_IFCHR:
		return IO_KIND_DEVICE;
	default:
		return IO_KIND_OTHER;
	}
}

/*
 * Whether no other file can have this one's inode and time of birth any more. It is there now; what comes when it has
 * gone is born later, by a clock that goes in ticks.
 */
static bool is_settled(const struct io_identity *i)
{
	return i->born && clock_ns(CLOCK_REALTIME) > i->born + TICKS;
}

/* Whether it holds for the next call, too. */
static bool look_up(struct io_target *t, int fd, const struct io_identity *i, const struct sockaddr *peer,
		    socklen_t length)
{
	static const char *const standard[] = {"stdin", "stdout", "stderr"};

	t->kind = (uint8_t)kind_of(i->mode);
	if (t->kind == IO_KIND_SOCKET)
		return look_up_socket(t, fd, peer, length);
	t->serves = t->kind == IO_KIND_DEVICE || t->kind == IO_KIND_OTHER || (t->kind == IO_KIND_PIPE && fd == 0);
	if (fd < (int)ARRAY_LEN(standard) && (t->kind == IO_KIND_PIPE || t->kind == IO_KIND_DEVICE))
		t->name = number_of(standard[fd], (enum io_kind)t->kind);
	else
		t->name = name_of_link(fd, (enum io_kind)t->kind);
	return t->kind != IO_KIND_FILE || is_settled(i);
}

struct io_target io_target_of(int fd, const struct sockaddr *peer, socklen_t length)
{
	struct known *k = fd >= 0 && (uint32_t)fd < DESCRIPTORS ? &targets.known[fd] : NULL;
	struct io_target t = {.name = IO_NAMES_FIRST + IO_KIND_OTHER, .kind = IO_KIND_OTHER};
	struct io_identity now;
	bool own, holds;

	if (!io_identify(fd, &now))
		return t;
	own = k && !atomic_exchange_explicit(&k->busy, 1, memory_order_acquire);
	if (own && k->set && io_identity_equals(&k->identity, &now)) {
		t = k->target;
	} else {
		holds = look_up(&t, fd, &now, peer, length);
		if (own) {
			k->set = holds;
			k->identity = now;
			k->target = t;
		}
	}
	if (own)
		atomic_store_explicit(&k->busy, 0, memory_order_release);
	return t;
}

struct io_target io_target_path(const char *path)
{
	return (struct io_target){.name = number_of(path, IO_KIND_FILE), .kind = IO_KIND_FILE};
}

/* ---- memory ---- */

#define KNOWN_BYTES (DESCRIPTORS * sizeof(*targets.known))
#define NAMES_BYTES (IO_NAMES * sizeof(*targets.names))

bool io_targets_open(void)
{
	char *room;

	if (!targets.known) {
		room = os_reserve(KNOWN_BYTES + NAMES_BYTES);
		if (!room || os_make_writable(room, KNOWN_BYTES + NAMES_BYTES))
			return false;
		targets.names = (struct name *)(void *)(room + KNOWN_BYTES);
		targets.known = (struct known *)(void *)room;
	}
	io_targets_release();
	io_targets_look();
	return true;
}

void io_targets_look(void)
{
	read_listened("/proc/self/net/tcp");
	read_listened("/proc/self/net/tcp6");
}

void io_targets_release(void)
{
	size_t i;

	if (targets.known)
		madvise(targets.known, KNOWN_BYTES + NAMES_BYTES, MADV_DONTNEED);
	for (i = 0; i < ARRAY_LEN(targets.listens); i++)
		atomic_store_explicit(&targets.listens[i], 0, memory_order_relaxed);
}
