#include "agent/sinks/stream/stream_out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buffer.h"
#include "common/base/vector.h"
#include "common/control/control.h"
#include "common/os/os.h"
#include "profile/writers/stream/stream_records.h"

#define LOOK_AGAIN (NS_PER_S / 10) /* whether the FIFO has a reader */

enum kind { KIND_FILE, KIND_FIFO, KIND_DEVICE, KIND_SOCKET, KIND_LISTENER };

/* What was put at once: where it ends, counted from the first byte ever put, and how many samples it tells of. */
struct part {
	uint64_t end, samples;
};

struct stream_out {
	enum kind kind;
	bool records, over;
	int fd;               /* where to write; -1 = no reader */
	int listener;         /* -1 = none */
	uint32_t reader;      /* number of the present or last one */
	uint64_t tried;       /* when a FIFO's reader was last looked for */
	unsigned flags;       /* of enum output_flags, */
	char path[1024];      /* and the path of the FIFO */
	struct output place;  /* the socket's folder and name there, */
	dev_t device;         /* and its file */
	ino_t inode;
	struct buffer bytes;  /* what waits: from `done` on */
	size_t done;
	uint64_t gone;        /* bytes before bytes.data, since the reader came */
	VECTOR(struct part) parts; /* of what waits, and some before it */
	uint64_t lost;        /* samples that were put, cut off at the end */
	bool begun;           /* the reader has a part of the next record */
};

/* ---- opening ---- */

static struct stream_out *out_new(enum kind kind, bool records, struct error *err)
{
	struct stream_out *o = calloc(1, sizeof(*o));

	if (!o) {
		error_set(err, ENOMEM, "out of memory for the stream");
		return NULL;
	}
	o->kind = kind;
	o->records = records || kind == KIND_DEVICE;
	o->fd = o->listener = -1;
	o->place = (struct output)OUTPUT_INIT;
	buffer_init(&o->bytes, -1);
	return o;
}

/*
 * What lies at PATH, opened; -1 with err->code 0: a FIFO that has no reader yet. TYPE gets its S_IF…, PLACE a new file
 * that has yet to take its name.
 */
static int open_path(const char *path, unsigned flags, struct output *place, mode_t *type, struct error *err)
{
	int fd = -1, rc;

	err->code = 0;
	rc = output_find(place, path, flags | OUTPUT_FIFO | OUTPUT_HIDDEN, err);
	if (rc == 0 && place->kind == OUTPUT_SPECIAL && !S_ISFIFO(place->type) && !S_ISCHR(place->type))
		rc = error_set(err, EINVAL, "this is no file, FIFO or device");
	if (rc == 0)
		rc = output_make(place, err);
	*type = place->kind == OUTPUT_FILE ? S_IFREG : place->type;
	if (rc == 0 && place->shares)
		rc = error_set(err, EINVAL, "this descriptor cannot be opened once more");
	else if (rc == 0)
		fd = fcntl(place->fd, F_DUPFD_CLOEXEC, 0);
	if (rc == 0 && fd < 0)
		rc = error_set(err, errno, "%s", error_text(errno));
	if (rc || place->kind != OUTPUT_FILE)
		output_drop(place);
	if (rc == -ENXIO && S_ISFIFO(*type))
		err->code = 0;
	if (fd >= 0 || !err->code)
		return fd;
	output_say("stream=", path, err);
	return -1;
}

static struct stream_out *open_file(const char *path, bool records, unsigned flags, struct output *place,
				    struct error *err)
{
	struct stream_out *o;
	mode_t type;
	int fd;

	fd = open_path(path, flags, place, &type, err);
	if (fd < 0 && err->code)
		return NULL;
	o = out_new(S_ISFIFO(type) ? KIND_FIFO : S_ISCHR(type) ? KIND_DEVICE : KIND_FILE, records, err);
	if (!o) {
		if (fd >= 0)
			close(fd);
		output_drop(place);
		return NULL;
	}
	o->fd = fd;
	o->reader = fd >= 0;
	o->flags = flags;
	snprintf(o->path, sizeof(o->path), "%s", path);
	return o;
}

/* What is left at PLACE of a process that was killed: a socket without a listener. */
static void remove_dead_socket(const struct output *place)
{
	struct error ignored;
	int sock;

	if (!S_ISSOCK(place->type) || place->owner != geteuid())
		return;
	sock = control_connect_in(place->folder, place->name, &ignored);
	if (sock >= 0)
		close(sock);
	else if (ignored.code == ECONNREFUSED)
		unlinkat(place->folder, place->name, 0);
}

/* The way to the folder is walked once: the socket is made, looked at and removed there, whatever its name leads to. */
static int listen_at(struct stream_out *o, const char *path, unsigned flags, struct error *err)
{
	struct stat st;

	if (output_find(&o->place, path, flags | OUTPUT_SOCKET, err))
		return output_say("stream=unix:", path, err);
	if (o->place.folder < 0)
		return error_set(err, EINVAL, "stream=unix:%s: this is no place for a socket", path);
	remove_dead_socket(&o->place);
	o->listener = control_listen_in(o->place.folder, o->place.name, path, err);
	if (o->listener < 0)
		return o->listener;
	fcntl(o->listener, F_SETFL, O_NONBLOCK);
	if (fstatat(o->place.folder, o->place.name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		o->device = st.st_dev;
		o->inode = st.st_ino;
	}
	return 0;
}

static struct stream_out *open_listener(const char *path, bool records, unsigned flags, struct error *err)
{
	struct stream_out *o = out_new(KIND_LISTENER, records, err);

	if (!o || listen_at(o, path, flags, err) == 0)
		return o;
	output_drop(&o->place);
	free(o);
	return NULL;
}

static struct stream_out *take(int fd, enum kind kind, bool records, struct error *err)
{
	struct stream_out *o = out_new(kind, records, err);

	if (!o) {
		close(fd);
		return NULL;
	}
	o->fd = fd;
	o->reader = 1;
	return o;
}

struct stream_out *stream_out_take(int fd, bool records, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
		return take(fd, KIND_SOCKET, records, err);
	close(fd);
	error_set(err, EINVAL, "the stream's descriptor is no socket");
	return NULL;
}

/* The mode of an inherited descriptor belongs to all who have it, so it is opened once more, but for sockets. */
static struct stream_out *open_inherited(const char *number, bool records, struct error *err)
{
	struct output no_file = OUTPUT_INIT;
	char path[64], *end;
	long n = strtol(number, &end, 10);
	struct stat st;
	int fd;

	if (!*number || *end || n < 0 || n > 1 << 20 || fstat((int)n, &st)) {
		error_set(err, EBADF, "stream=fd:%s: there is no such descriptor", number);
		return NULL;
	}
	if (!S_ISSOCK(st.st_mode) && !S_ISREG(st.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%ld", n);
		return open_file(path, records, 0, &no_file, err);
	}
	fd = fcntl((int)n, F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		error_set(err, errno, "stream=fd:%s: %s", number, error_text(errno));
		return NULL;
	}
	return take(fd, S_ISREG(st.st_mode) ? KIND_FILE : KIND_SOCKET, records, err);
}

struct stream_out *stream_out_open(const char *target, bool records, bool force, struct output *place,
				   struct error *err)
{
	if (strncmp(target, "unix:", 5) == 0)
		return open_listener(target + 5, records, force ? OUTPUT_FORCE : 0, err);
	if (strncmp(target, "fd:", 3) == 0)
		return open_inherited(target + 3, records, err);
	return open_file(target, records, force ? OUTPUT_FORCE : 0, place, err);
}

/* ---- readers ---- */

/* The reader has left; what was on its way to him goes with him. */
static void lose_reader(struct stream_out *o)
{
	close(o->fd);
	o->fd = -1;
	o->bytes.length = o->done = 0;
	o->parts.count = 0;
	o->begun = false;
	o->over = o->kind != KIND_FIFO && o->kind != KIND_LISTENER;
}

static bool has_left(const struct stream_out *o)
{
	struct pollfd p = {.fd = o->fd};

	return (o->kind == KIND_FIFO || o->kind == KIND_SOCKET || o->kind == KIND_LISTENER) &&
	       poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP | POLLNVAL));
}

/* Let in users who may read: this process's user, or root. Others are turned away. */
static int accept_reader(struct stream_out *o)
{
	struct error ignored;
	pid_t pid;
	uid_t uid;
	int sock = accept4(o->listener, NULL, NULL, SOCK_CLOEXEC);

	if (sock >= 0 && (o->fd >= 0 || control_peer(sock, &pid, &uid, &ignored) || (uid != 0 && uid != geteuid()))) {
		close(sock);
		return -1;
	}
	return sock;
}

uint32_t stream_out_reader(struct stream_out *o)
{
	struct output place = OUTPUT_INIT;
	struct error ignored;
	mode_t type;
	int fd = -1;

	if (o->fd >= 0 && has_left(o))
		lose_reader(o);
	if (o->kind == KIND_LISTENER) {
		fd = accept_reader(o);
	} else if (o->kind == KIND_FIFO && o->fd < 0 && os_monotonic() - o->tried >= LOOK_AGAIN) {
		o->tried = os_monotonic();
		fd = open_path(o->path, o->flags, &place, &type, &ignored);
	}
	if (fd >= 0) {
		o->fd = fd;
		o->reader++;
	}
	return o->fd < 0 ? 0 : o->reader;
}

bool stream_out_blind(const struct stream_out *o)
{
	return o->kind == KIND_DEVICE;
}

bool stream_out_over(const struct stream_out *o)
{
	return o->over;
}

/* ---- bytes ---- */

size_t stream_out_waiting(const struct stream_out *o)
{
	return o->bytes.length - o->done;
}

/* Bytes that the reader has taken are kept no longer. */
static void move_up(struct stream_out *o)
{
	size_t i = 0, kept = 0;

	o->gone += o->done;
	o->bytes.length -= o->done;
	memmove(o->bytes.data, o->bytes.data + o->done, o->bytes.length);
	o->done = 0;
	for (; i < o->parts.count; i++)
		if (o->parts.items[i].end > o->gone)
			o->parts.items[kept++] = o->parts.items[i];
	o->parts.count = kept;
}

bool stream_out_put(struct stream_out *o, const char *bytes, size_t n, uint64_t samples, bool urgent)
{
	struct part *part;

	if (o->fd < 0 || stream_out_waiting(o) + n > STREAM_WAITING + (urgent ? STREAM_URGENT : 0))
		return false;
	if (o->done > STREAM_WAITING / 2)
		move_up(o);
	part = VECTOR_PUSH(&o->parts);
	if (!part)
		return false;
	buffer_append(&o->bytes, bytes, n);
	if (o->bytes.failed) {
		o->bytes.failed = 0; /* nothing of it was appended */
		o->parts.count--;
		return false;
	}
	*part = (struct part){.end = o->gone + o->bytes.length, .samples = samples};
	return true;
}

/* Write as much of N BYTES as goes; as write(2). */
static ssize_t give(struct stream_out *o, const char *bytes, size_t n)
{
	if (o->kind == KIND_SOCKET || o->kind == KIND_LISTENER)
		return send(o->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(o->fd, bytes, n);
}

void stream_out_write(struct stream_out *o)
{
	while (o->fd >= 0 && stream_out_waiting(o)) {
		const char *bytes = o->bytes.data + o->done;
		size_t n = stream_out_waiting(o);
		ssize_t done = give(o, bytes, o->records ? stream_record_length(bytes, n) : n);

		if (done > 0) {
			o->done += (size_t)done;
			o->begun = bytes[done - 1] != '\n';
		} else if (done < 0 && (errno == EPIPE || errno == ECONNRESET)) {
			lose_reader(o);
		} else if (done == 0 || errno != EINTR) {
			return; /* the reader is slow, or the disk is full: later, perhaps */
		}
	}
	o->gone += o->bytes.length;
	o->bytes.length = o->done = 0;
	o->parts.count = 0;
}

unsigned stream_out_polls(const struct stream_out *o, struct pollfd *p)
{
	unsigned n = 0;

	if (o->listener >= 0)
		p[n++] = (struct pollfd){.fd = o->listener, .events = POLLIN};
	if (o->fd >= 0 && o->kind != KIND_FILE && o->kind != KIND_DEVICE)
		p[n++] = (struct pollfd){.fd = o->fd, .events = stream_out_waiting(o) ? POLLOUT : 0};
	return n;
}

/* ---- the end ---- */

void stream_out_refuse(struct stream_out *o)
{
	struct stat st;

	if (o->listener < 0)
		return;
	close(o->listener);
	o->listener = -1;
	if (fstatat(o->place.folder, o->place.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == o->device &&
	    st.st_ino == o->inode)
		unlinkat(o->place.folder, o->place.name, 0);
	output_drop(&o->place);
}

/* Bytes from AT on, counted as in struct part, will never be written: their samples are lost. */
static void lose_from(struct stream_out *o, uint64_t at)
{
	while (o->parts.count && o->parts.items[o->parts.count - 1].end > at)
		o->lost += o->parts.items[--o->parts.count].samples;
}

void stream_out_cut(struct stream_out *o)
{
	const char *bytes = o->bytes.data + o->done;

	if (stream_out_waiting(o))
		o->bytes.length = o->done + (o->begun ? stream_record_length(bytes, stream_out_waiting(o)) : 0);
	lose_from(o, o->gone + o->bytes.length);
}

uint64_t stream_out_close(struct stream_out *o)
{
	uint64_t lost;

	if (!o)
		return 0;
	stream_out_write(o);
	lose_from(o, o->gone + o->done);
	lost = o->lost;
	if (o->fd >= 0)
		close(o->fd);
	stream_out_refuse(o);
	buffer_free(&o->bytes);
	free(o->parts.items);
	free(o);
	return lost;
}
