#include "agent/collect/collector_state.h"
#include "agent/collect/sink.h"
#include "agent/collect/survivors.h"
#include "agent/context/marks.h"
#include "agent/sinks/recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sinks/recording/recording_state.h"
#include "agent/threads/own_thread.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/base/proc_self.h"
#include "common/os/os.h"

#define SHORT (500 * NS_PER_MS) /* for who asks how it stands */

static int truncate_file(int fd, uint64_t size, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "a recording needs a regular file");
	if (ftruncate(fd, (off_t)size))
		return error_set(err, errno, "the recording's file cannot be written: %s; choose another place",
				 error_text(errno));
	return 0;
}

struct recording *recording_new(int fd, const struct recording_options *o, struct error *err)
{
	struct jfr_options how = {.cpu_events = o->cpu_events, .max_size = o->max_size,
				  .start = o->append.size, .first_key = o->append.last_key,
				  .began = o->append.began, .apart = o->apart,
				  .no_spans = o->no_spans};
	struct recording *r = calloc(1, sizeof(*r));
	const struct recording_books *held = o->append.books;
	uint32_t e;

	if (o->windows || marks_are_used())
		how.tick = JFR_TICK_EXACT;
	for (e = 0; e < RECORD_EVENTS; e++)
		if (o->events[e].kind == RECORDING_CPU && o->events[e].name[0])
			how.cpu_interval = o->events[e].interval;
		else if (o->events[e].kind == RECORDING_WALL)
			how.wall_interval = o->events[e].interval;
		else if (o->events[e].kind == RECORDING_LOCK || o->events[e].kind == RECORDING_IO)
			how.tick = JFR_TICK_EXACT;

	if (!r || truncate_file(fd, o->append.size, err)) {
		if (!r)
			error_set(err, ENOMEM, "out of memory for the recording");
		close(fd);
		free(r);
		return NULL;
	}
	r->sink.ops = &recording_sink_ops;
	r->options = *o;
	r->options.append.books = NULL;
	for (e = 0; held && e < RECORD_EVENTS; e++) {
		r->left_out[e] = held[e].left_out;
		r->books[e] = held[e];
	}
	buffer_init(&r->mark_data, -1);
	r->fd = fd;
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->wake_lock, NULL);
	os_condition_init(&r->wake);
	r->threads_known = UINT64_MAX;
	r->sink.renews = true;
	r->began = o->began ? o->began : os_monotonic();
	r->jfr = jfr_new(fd, &how, os_realtime() - (os_monotonic() - r->began), r->began);
	if (!r->jfr || shown_open(&r->shown, &o->filter)) {
		error_set(err, ENOMEM, "out of memory for the recording");
		recording_free(r);
		return NULL;
	}
	return r;
}

bool recording_is_appended(const struct recording *r)
{
	return r->options.append.size > 0;
}

bool recording_is_apart(const struct recording *r)
{
	return r->options.apart;
}

void recording_setting(struct recording *r, unsigned type, const struct jfr_value *values, unsigned count)
{
	struct recording_setting *f = count <= RECORDING_SETTING_VALUES ? VECTOR_PUSH(&r->settings) : NULL;
	unsigned i;

	if (!f)
		return;
	f->type = type;
	f->count = count;
	for (i = 0; i < count; i++) {
		f->values[i] = values[i];
		f->values[i].text = values[i].text ? strdup(values[i].text) : NULL;
	}
}

int recording_begin(struct recording *r, struct collector *c, const struct recording_clocks *clocks, struct error *err)
{
	int rc;

	r->collector = c;
	r->clocks = *clocks;
	pthread_mutex_lock(&c->lock);
	recording_count_before(r);
	pthread_mutex_unlock(&c->lock);
	recording_put_settings(r, r->began);
	/* in the file from the first second: also when nothing ever happens */
	rc = jfr_flush(r->jfr, os_monotonic(), err);
	if (rc)
		return rc;
	sink_add(c, &r->sink);
	marks_join();
	rc = own_thread_start(&r->thread, recording_run, r, "recording", err);
	if (rc) {
		sink_remove(&r->sink);
		marks_leave();
	}
	r->running = rc == 0;
	return rc;
}

/* Lock held. */
static int flush(struct recording *r, struct recording_books *books, struct error *err)
{
	if (r->running)
		recording_write_pending(r, URGENCY_FLUSH);
	memcpy(books, r->books, sizeof(r->books));
	if (r->failed.code)
		*err = r->failed;
	return -r->failed.code;
}

int recording_flush(struct recording *r, struct recording_books *books, struct error *err)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = flush(r, books, err);
	pthread_mutex_unlock(&r->lock);
	return rc;
}

/* The file to read from: what the command gives us can only be written to, but its user may open it. */
static int open_to_read(const struct recording *r)
{
	char self[PROC_SELF_MAX];

	if ((fcntl(r->fd, F_GETFL) & O_ACCMODE) != O_WRONLY)
		return fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
	proc_self_fd(self, r->fd);
	return open(self, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

int recording_copy_file(const struct recording *r, struct buffer *out, struct error *err)
{
	uint64_t at = 0, size = jfr_size(r->jfr) + r->appended;
	int fd = open_to_read(r);
	char bytes[16384];
	ssize_t n = 1;

	while (fd >= 0 && at < size && n > 0) {
		n = pread(fd, bytes, MIN(sizeof(bytes), size - at), (off_t)at);
		if (n > 0)
			buffer_append(out, bytes, (size_t)n);
		at += n > 0 ? (uint64_t)n : 0;
	}
	if (fd < 0)
		return error_set(err, errno, "the recording is a file that this process can only write to: %s; copy "
				 "that file, it holds all of it", error_text(errno));
	close(fd);
	if (n <= 0)
		return error_set(err, n ? errno : EIO, "the recording cannot be read back: %s",
			       n ? error_text(errno) : "it is shorter than what was written");
	return 0;
}

int recording_copy(struct recording *r, struct buffer *out, struct recording_books *books, struct error *err)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = flush(r, books, err);
	if (rc == 0)
		rc = recording_copy_file(r, out, err);
	pthread_mutex_unlock(&r->lock);
	return rc;
}

/* Objects that are there at the end are samples of then. */
static void tell_survivors(struct recording *r)
{
	pthread_mutex_lock(&r->collector->lock);
	survivors_tell(r->collector, &r->sink, os_monotonic());
	pthread_mutex_unlock(&r->collector->lock);
}

int recording_end(struct recording *r, struct error *err)
{
	int rc = 0;

	if (r->running) {
		recording_wake(r, true);
		if (!own_thread_join_busy(r->thread, &r->tid))
			return error_set(err, EINPROGRESS, "the recording does not end: what it writes to takes "
					 "nothing, or a debugger holds the profiler's thread 'jstrobe write'");
		tell_survivors(r);
		pthread_mutex_lock(&r->lock);
		recording_write_pending(r, URGENCY_END);
		r->running = false;
		pthread_mutex_unlock(&r->lock);
		sink_remove(&r->sink);
		marks_leave();
	}
	if (r->failed.code) {
		*err = r->failed;
		rc = -err->code;
	}
	return rc;
}

/* FILE's bytes behind the first SIZE of FD; those copied, or a negative errno. */
static int64_t copy_behind(int fd, uint64_t size, int file)
{
	char bytes[65536];
	uint64_t done = 0;
	ssize_t n;

	while ((n = pread(file, bytes, sizeof(bytes), (off_t)done)) > 0) {
		if (done == 0 && (n < 4 || memcmp(bytes, "FLR", 4) != 0))
			return -EBADMSG;
		if (pwrite(fd, bytes, (size_t)n, (off_t)(size + done)) != n)
			return errno ? -errno : -ENOSPC;
		done += (uint64_t)n;
	}
	return n < 0 ? -errno : (int64_t)done;
}

int recording_append(struct recording *r, int file, uint32_t key, const char *what, struct error *err)
{
	uint64_t size = jfr_size(r->jfr) + r->appended, limit = r->options.max_size;
	struct stat st, ours;
	int64_t copied;

	if (r->failed.code || fstat(file, &st) || fstat(r->fd, &ours) || (uint64_t)ours.st_size != size)
		return error_set(err, EIO, "%s are not in the recording: what should stand before them is not there",
				 what);
	if (limit && size + (uint64_t)st.st_size > limit)
		return error_set(err, EFBIG, "%s are not in the recording: with them it would be larger than maxsize",
				 what);
	errno = 0;
	copied = copy_behind(r->fd, size, file);
	if (copied >= 0) {
		r->appended += (uint64_t)copied;
		r->appended_key = MAX(r->appended_key, key);
		return 0;
	}
	if (ftruncate(r->fd, (off_t)size))
		errno = (int)-copied;
	return error_set(err, (int)-copied, "%s cannot be put into the recording: %s", what,
			 error_text((int)-copied));
}

void recording_free(struct recording *r)
{
	size_t i;
	unsigned v;

	/* its thread, which did not end in time, may use it yet */
	if (!r || r->running)
		return;
	for (i = 0; i < r->settings.count; i++)
		for (v = 0; v < r->settings.items[i].count; v++)
			free((char *)(uintptr_t)r->settings.items[i].values[v].text);
	free(r->settings.items);
	if (!r->jfr || jfr_has_file(r->jfr)) /* else its number is that of a file of the program's by now */
		close(r->fd);
	jfr_free(r->jfr);
	event_list_free(&r->pending);
	free(r->notes.items);
	event_list_free(&r->batch);
	free(r->batch_notes.items);
	recording_forget_marks(r);
	event_list_free(&r->held);
	free(r->stacks.items);
	free(r->methods.items);
	free(r->threads.items);
	map_free(&r->vthreads);
	recording_load_free(r);
	shown_close(&r->shown);
	free(r->window);
	heap_counters_free(&r->heap.counters);
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->wake_lock);
	pthread_cond_destroy(&r->wake);
	free(r);
}

void recording_totals(struct recording *r, struct recording_totals *t)
{
	/* it is held while the disk is written to, which may not answer */
	if (!os_lock_within(&r->lock, SHORT)) {
		pthread_mutex_lock(&r->wake_lock);
		*t = r->totals;
		pthread_mutex_unlock(&r->wake_lock);
		return;
	}
	t->bytes = jfr_size(r->jfr) + r->appended;
	t->samples = r->samples;
	t->dropped = r->dropped;
	t->chunks = r->chunks;
	t->last_key = MAX(jfr_last_key(r->jfr), r->appended_key);
	memcpy(t->books, r->books, sizeof(t->books));
	t->began = r->options.append.began ? r->options.append.began : r->began;
	pthread_mutex_unlock(&r->lock);
	pthread_mutex_lock(&r->wake_lock);
	r->totals = *t;
	pthread_mutex_unlock(&r->wake_lock);
}

void recording_identity(struct recording *r, dev_t *device, ino_t *inode)
{
	struct stat st;

	memset(&st, 0, sizeof(st));
	fstat(r->fd, &st);
	*device = st.st_dev;
	*inode = st.st_ino;
}
