#include "agent/session/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "agent/session/jvm_info.h"
#include "agent/session/source_options.h"

#define DEFAULT_CHUNK_SIZE (100ull << 20)
#define DEFAULT_CHUNK_TIME (3600 * NS_PER_S)

static struct {
	struct recording *recording; /* ended, but still open, after a stop; NULL: none */
	bool ended;
	struct error error;          /* why something is missing in it; code 0: nothing is */
	struct {                     /* the file of the last one */
		dev_t device;
		ino_t inode;
		struct recording_totals totals;
	} recorded;
} recorder;

void recorder_forget(void)
{
	memset(&recorder.recorded, 0, sizeof(recorder.recorded));
}

bool recorder_runs(void)
{
	return recorder.recording && !recorder.ended;
}

static bool is_last(const struct stat *file)
{
	return file->st_ino == recorder.recorded.inode && file->st_dev == recorder.recorded.device &&
	       (uint64_t)file->st_size == recorder.recorded.totals.bytes;
}

bool recorder_is_last(int file)
{
	struct stat st;

	return fstat(file, &st) == 0 && is_last(&st);
}

bool recorder_is_in(const struct stat *file)
{
	dev_t device;
	ino_t inode;

	if (!recorder.recording)
		return is_last(file);
	recording_identity(recorder.recording, &device, &inode);
	return file->st_ino == inode && file->st_dev == device;
}

bool recorder_is_closed(void)
{
	return !recorder.recording;
}

static enum recording_kind kind_of(const struct engine_event *event)
{
	static const enum recording_kind kinds[WEIGHT_KINDS] = {
		[WEIGHT_CPU] = RECORDING_CPU, [WEIGHT_WALL] = RECORDING_WALL, [WEIGHT_WAIT] = RECORDING_LOCK,
		[WEIGHT_IO] = RECORDING_IO, [WEIGHT_COUNT] = RECORDING_EVENT, [WEIGHT_BYTES] = RECORDING_EVENT,
	};

	return kinds[event->weight];
}

/* What a recording is to be that O asks for, of EVENTS. */
static struct recording_options options_of(const struct options *o, const struct engine_event *events, uint32_t count)
{
	struct recording_options how = {
		.cpu_events = strcmp(o->cpu_events, "execution") == 0 ? JFR_CPU_EXECUTION :
			      strcmp(o->cpu_events, "cputime") == 0 ? JFR_CPU_TIME :
			      JFR_CPU_EXECUTION | JFR_CPU_TIME,
		.chunk_size = o->chunk_size ? o->chunk_size : DEFAULT_CHUNK_SIZE,
		.chunk_time = o->chunk_time ? o->chunk_time : DEFAULT_CHUNK_TIME,
		.max_size = o->max_size,
		.partial = source_options_partial(o),
		.windows = o->ttsp || o->begin[0] || o->end[0],
		.nobatch = o->nobatch,
		.no_cpu_load = o->omitted & OMIT_CPU_LOAD,
		.no_heap = o->omitted & OMIT_HEAP,
		.apart = o->jfrsync[0],
		.no_spans = o->jfr_compat[0],
		.object_samples = strcmp(o->jfr_alloc, "sample") == 0,
		.filter = source_options_format(o),
	};
	uint32_t e;

	for (e = 0; e < count; e++) {
		snprintf(how.events[e].name, sizeof(how.events[e].name), "%s", events[e].name);
		how.events[e].kind = kind_of(&events[e]);
		how.events[e].interval = events[e].interval;
	}
	return how;
}

struct recording *recorder_open(const struct options *o, const struct engine_event *events, uint32_t count,
				bool resume, int file, struct error *err)
{
	struct recording_options how = options_of(o, events, count);
	struct recording *r;

	if (resume && recorder_is_last(file)) {
		how.append.size = recorder.recorded.totals.bytes;
		how.append.last_key = recorder.recorded.totals.last_key;
		how.append.began = recorder.recorded.totals.began;
		how.append.books = recorder.recorded.totals.books;
	}
	r = recording_new(file, &how, err);
	if (r)
		jvm_info_gather(r, o, events, count);
	return r;
}

struct recording *recorder_open_window(const struct options *o, const struct engine_event *events, uint32_t count,
				       uint64_t session_began, uint64_t began, int file, struct error *err)
{
	struct recording_options how = options_of(o, events, count);
	struct recording *r;

	how.began = began;
	how.append.began = session_began;
	r = recording_new(file, &how, err);
	if (r)
		jvm_info_gather(r, o, events, count);
	return r;
}

int recorder_copy_survivors(const struct options *o, const struct engine_event *events, uint32_t count,
			    struct collector *c, uint32_t key, struct buffer *out, struct error *err)
{
	struct recording_options how = options_of(o, events, count);
	struct recording_totals totals = {0};
	struct recording *r;
	int fd, rc;

	if (!recorder_runs())
		return 0;
	fd = memfd_create("jstrobe objects", MFD_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "no memory for the objects that are there: %s", error_text(errno));
	recording_totals(recorder.recording, &totals);
	how.append.last_key = MAX(totals.last_key, key);
	how.append.began = totals.began;
	how.max_size = 0;
	r = recording_new(fd, &how, err);
	if (!r)
		return -err->code;
	jvm_info_gather(r, o, events, count);
	rc = recording_write_survivors(r, c, out, err);
	recording_free(r);
	return rc;
}

void recorder_take(struct recording *r)
{
	recorder_close();
	recorder.recording = r;
	recorder.ended = false;
	recorder.error.code = 0;
}

bool recorder_end(struct error *err)
{
	int rc;

	if (!recorder.recording || recorder.ended)
		return true;
	rc = recording_end(recorder.recording, err);
	if (rc == -EINPROGRESS)
		return false;
	recorder.error.code = 0;
	if (rc)
		recorder.error = *err;
	recorder.ended = true;
	recording_identity(recorder.recording, &recorder.recorded.device, &recorder.recorded.inode);
	recording_totals(recorder.recording, &recorder.recorded.totals);
	return true;
}

uint32_t recorder_last_key(void)
{
	struct recording_totals totals = {0};

	if (recorder.recording)
		recording_totals(recorder.recording, &totals);
	return totals.last_key;
}

void recorder_append(int file, uint32_t key, const char *what, struct error *err)
{
	if (!recorder.recording || !recorder.ended)
		return;
	if (file >= 0 && recording_append(recorder.recording, file, key, what, err) == 0)
		recording_totals(recorder.recording, &recorder.recorded.totals);
	else if (!recorder.error.code)
		recorder.error = *err;
}

void recorder_close(void)
{
	recording_free(recorder.recording);
	recorder.recording = NULL;
}

static int none(struct error *err)
{
	if (recorder.recorded.inode)
		return error_set(err, ENOENT, "no recording is written any more: the session's last one is complete in "
				 "the file that was named for it");
	return error_set(err, ENOENT, "the session is not recorded: a recording is written while it samples, so that "
			 "begins with sampling; start with -f FILE.jfr (agent: file=FILE.jfr), or write what there is "
			 "in another format");
}

/* Why something is missing in one that has ended. */
static int ended_well(struct error *err)
{
	if (recorder.ended && recorder.error.code)
		*err = recorder.error;
	return recorder.ended ? -recorder.error.code : 0;
}

int recorder_complete(struct recording_books *books, struct error *err)
{
	int rc = recorder.recording ? ended_well(err) : none(err);

	return rc ? rc : recording_flush(recorder.recording, books, err);
}

int recorder_copy(struct buffer *out, struct recording_books *books, struct error *err)
{
	int rc = recorder.recording ? ended_well(err) : none(err);

	if (rc == 0)
		rc = recording_copy(recorder.recording, out, books, err);
	if (rc == 0 && out->failed)
		return error_set(err, out->failed, "cannot write the result: %s", error_text(out->failed));
	return rc;
}

void recorder_status(uint64_t *bytes, uint64_t *unwritten)
{
	struct recording_totals totals = {0};

	if (recorder.recording)
		recording_totals(recorder.recording, &totals);
	*bytes = totals.bytes;
	*unwritten = totals.dropped;
}
