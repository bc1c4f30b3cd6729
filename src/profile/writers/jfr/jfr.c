#include "profile/writers/jfr/jfr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/file_identity.h"
#include "profile/writers/jfr/jfr_chunk.h"
#include "profile/writers/jfr/jfr_emit.h"
#include "profile/writers/jfr/jfr_pools.h"
#include "profile/writers/jfr/jfr_weights.h"

struct jfr {
	int fd;
	struct jfr_options options;
	uint64_t began;             /* ns: tick 0 */
	struct jfr_chunk chunk;
	struct jfr_pools pools;
	struct buffer events;       /* not flushed yet */
	struct jfr_weights cpu, wall; /* of samples since the last flush whose own event has no place for them */
	bool linked;                /* its file has a name, as far as we know */
	struct file_identity file;
	struct error dead;          /* code 0: alive */
};

static unsigned dialect(const struct jfr *j)
{
	return (j->options.apart ? JFR_DIALECT_APART : 0u) | (j->options.no_spans ? JFR_DIALECT_NO_SPANS : 0u);
}

uint64_t jfr_ticks(const struct jfr *j, uint64_t time)
{
	return time > j->began ? (time - j->began) / j->options.tick : 0;
}

uint64_t jfr_ticks_of(const struct jfr *j, uint64_t ns)
{
	return ns / j->options.tick;
}

struct jfr *jfr_new(int fd, const struct jfr_options *o, uint64_t real, uint64_t now)
{
	struct jfr *j = calloc(1, sizeof(*j));
	struct stat st;

	if (!j)
		return NULL;
	j->fd = fd;
	j->options = *o;
	j->options.tick = o->tick ? o->tick : JFR_TICK;
	if (fstat(fd, &st) == 0) {
		j->linked = st.st_nlink > 0;
		j->file = file_identity_in(&st);
	}
	j->began = o->began ? o->began : now;
	buffer_init(&j->events, -1);
	jfr_weights_init(&j->cpu, o->cpu_interval);
	jfr_weights_init(&j->wall, o->wall_interval);
	jfr_pools_begin(&j->pools, o->first_key);
	jfr_chunk_begin(&j->chunk, o->start, real, now, jfr_ticks(j, now), j->options.tick,
			dialect(j));
	return j;
}

void jfr_free(struct jfr *j)
{
	if (!j)
		return;
	jfr_chunk_free(&j->chunk);
	jfr_pools_free(&j->pools);
	buffer_free(&j->events);
	jfr_weights_free(&j->cpu);
	jfr_weights_free(&j->wall);
	free(j);
}

/* ---- constants ---- */

uint32_t jfr_method(struct jfr *j, const char *class_name, const char *name, const char *descriptor,
		    bool native)
{
	return jfr_pool_method(&j->pools, *class_name ? class_name : "?", *name ? name : "?",
			       *descriptor ? descriptor : "()", native);
}

uint32_t jfr_class(struct jfr *j, const char *name)
{
	return jfr_pool_class(&j->pools, name);
}

uint32_t jfr_symbol(struct jfr *j, const char *text)
{
	return jfr_pool_symbol(&j->pools, text);
}

uint32_t jfr_string(struct jfr *j, const char *text)
{
	return jfr_pool_string(&j->pools, text);
}

uint32_t jfr_stack(struct jfr *j, const struct jfr_frame *frames, uint32_t count, bool truncated)
{
	return jfr_pool_stack(&j->pools, frames, count, truncated);
}

uint32_t jfr_thread(struct jfr *j, const struct jfr_thread *t)
{
	return jfr_pool_thread(&j->pools, t);
}

/* ---- samples ---- */

static size_t begin(struct jfr *j, unsigned type, uint64_t time)
{
	size_t at = jfr_begin_short(&j->events);

	jfr_put_number(&j->events, type + (j->options.apart ? JFR_APART : 0));
	jfr_put_number(&j->events, jfr_ticks(j, time));
	return at;
}

static void put_execution(struct jfr *j, uint64_t time, uint32_t thread, uint32_t stack, enum thread_state state)
{
	size_t at = begin(j, JFR_EXECUTION_SAMPLE, time);

	jfr_put_number(&j->events, thread);
	jfr_put_number(&j->events, stack);
	jfr_put_number(&j->events, state);
	jfr_end_short(&j->events, at);
}

void jfr_cpu_sample(struct jfr *j, uint64_t time, uint32_t thread, uint32_t stack, uint64_t weight)
{
	size_t at;

	if (j->options.cpu_events & JFR_CPU_EXECUTION)
		put_execution(j, time, thread, stack, THREAD_NONE);
	if (!(j->options.cpu_events & JFR_CPU_TIME)) {
		jfr_weights_add(&j->cpu, weight);
		return;
	}
	at = begin(j, JFR_CPU_TIME_SAMPLE, time);
	jfr_put_number(&j->events, stack);
	jfr_put_number(&j->events, thread);
	buffer_putc(&j->events, 0); /* not failed */
	jfr_put_number(&j->events, weight);
	buffer_putc(&j->events, 0); /* not biased */
	jfr_end_short(&j->events, at);
}

void jfr_wall_sample(struct jfr *j, uint64_t time, uint32_t thread, uint32_t stack,
		     enum thread_state state, uint64_t weight)
{
	put_execution(j, time, thread, stack, state);
	jfr_weights_add(&j->wall, weight);
}

void jfr_wall_run(struct jfr *j, uint64_t time, uint32_t thread, uint32_t stack, enum thread_state state,
		  uint64_t samples, uint64_t span, uint64_t weight)
{
	size_t at = begin(j, JFR_WALL_CLOCK_SAMPLE, time);

	jfr_put_number(&j->events, thread);
	jfr_put_number(&j->events, stack);
	jfr_put_number(&j->events, state);
	jfr_put_number(&j->events, samples);
	if (!j->options.no_spans)
		jfr_put_number(&j->events, span / j->options.tick);
	jfr_end_short(&j->events, at);
	jfr_weights_add(&j->wall, weight);
}

void jfr_event_sample(struct jfr *j, uint64_t time, uint32_t thread, uint32_t stack, enum thread_state state,
		      const char *event, uint64_t weight)
{
	size_t at = begin(j, JFR_EVENT_SAMPLE, time);

	jfr_put_number(&j->events, thread);
	jfr_put_number(&j->events, stack);
	jfr_put_number(&j->events, state);
	jfr_put_string(&j->events, event);
	jfr_put_number(&j->events, weight);
	jfr_end_short(&j->events, at);
}

void jfr_window(struct jfr *j, uint64_t since, uint64_t took, uint32_t thread)
{
	const struct jfr_value v[] = {JFR_N(took / j->options.tick), JFR_N(thread)};

	jfr_event(j, JFR_WINDOW, since, v, ARRAY_LEN(v));
}

/* Weights that have no place in their sample's own event follow it in one of all of them. */
static void put_weights(struct jfr *j, struct jfr_weights *w, unsigned type, uint64_t now)
{
	const char *text;
	size_t at;

	if (!w->begun)
		return;
	at = begin(j, type, now);
	text = jfr_weights_text(w);
	jfr_put_number(&j->events, (uint64_t)w->unit);
	jfr_put_string(&j->events, text);
	jfr_end_short(&j->events, at);
	if (!text)
		j->events.failed = ENOMEM;
	jfr_weights_forget(w);
}

/* ---- other events ---- */

/* The values of the fields behind ROW; the number of them. */
static unsigned put_fields(struct buffer *b, const struct jfr_row *row, const struct jfr_value *v,
			   unsigned count)
{
	const struct jfr_row *end = jfr_rows + jfr_row_count;
	unsigned n = 0;

	for (row++; row < end && row->is_field; row++) {
		if (strcmp(row->name, "startTime") == 0)
			continue;
		if (row->type > JFR_STRING && row->flag == JFR_FLAG_0) {
			n += put_fields(b, jfr_row_of(row->type), v + n, count - n);
			continue;
		}
		if (n == count) {
			b->failed = EINVAL;
			return n;
		}
		if (row->flag == JFR_FLAG_POOL || row->type == JFR_INT || row->type == JFR_LONG)
			jfr_put_number(b, v[n].number);
		else if (row->type == JFR_BOOLEAN)
			buffer_putc(b, v[n].number != 0);
		else if (row->type == JFR_FLOAT)
			jfr_put_float(b, (float)v[n].share);
		else if (v[n].bytes)
			jfr_put_latin1(b, v[n].bytes, v[n].number);
		else
			jfr_put_string(b, v[n].text);
		n++;
	}
	return n;
}

void jfr_event(struct jfr *j, unsigned type, uint64_t time, const struct jfr_value *values, unsigned count)
{
	size_t at = begin(j, type, time);

	if (put_fields(&j->events, jfr_row_of(type), values, count) != count)
		j->events.failed = EINVAL;
	jfr_end_short(&j->events, at);
}

/* ---- into the file ---- */

static void forget_pending(struct jfr *j)
{
	j->events.length = 0;
	j->events.failed = 0;
	jfr_weights_forget(&j->cpu);
	jfr_weights_forget(&j->wall);
}

static int die(struct jfr *j, struct error *err)
{
	j->dead = *err;
	forget_pending(j);
	return -err->code;
}

bool jfr_has_file(const struct jfr *j)
{
	return file_identity_same(file_identity_of(j->fd), j->file);
}

/* Others may have done something to the file. */
static int check_file(struct jfr *j, struct error *err)
{
	uint64_t ours = j->chunk.start + j->chunk.size;
	struct stat st;

	if (j->dead.code) {
		*err = j->dead;
		forget_pending(j);
		return -err->code;
	}
	if (fstat(j->fd, &st))
		return error_set(err, errno, "the recording's file: %s", error_text(errno)), die(j, err);
	if (!file_identity_same(file_identity_in(&st), j->file))
		return error_set(err, EBADF, "the program has closed the recording's file; nothing more is written"),
		       die(j, err);
	j->linked |= st.st_nlink > 0;
	if (j->linked && st.st_nlink == 0)
		return error_set(err, ENOENT, "the recording's file was deleted while it was written: what it held "
				 "is lost; nothing more is written"), die(j, err);
	if ((uint64_t)st.st_size != ours && j->chunk.size)
		return error_set(err, EIO, "the recording's file was %s while it was written; nothing more is "
				 "written to it", (uint64_t)st.st_size < ours ? "truncated" :
				 "written to by another process"), die(j, err);
	return 0;
}

static int write_pending(struct jfr *j, uint64_t now, bool last, struct error *err)
{
	struct buffer constants = BUFFER_INIT;
	unsigned count;
	int rc = check_file(j, err);

	if (rc)
		return rc;
	put_weights(j, &j->cpu, JFR_SAMPLE_WEIGHTS, now);
	put_weights(j, &j->wall, JFR_WALL_WEIGHTS, now);
	if (!j->events.length && !j->events.failed && !last)
		return 0;
	count = jfr_pools_take(&j->pools, &constants);
	rc = jfr_chunk_flush(&j->chunk, j->fd, &j->events, &constants, count, now, last, j->options.max_size);
	buffer_free(&constants);
	if (rc == -EFBIG && j->options.max_size)
		return error_set(err, EFBIG, "the recording has reached its maxsize; nothing more is written "
				 "to it"), die(j, err);
	if (rc == 0)
		jfr_pools_taken(&j->pools);
	else
		error_set(err, -rc, "the recording cannot be written: %s%s", error_text(-rc),
			  rc == -ENOSPC || rc == -EDQUOT ? "; free some space" : "");
	forget_pending(j);
	return rc;
}

int jfr_flush(struct jfr *j, uint64_t now, struct error *err)
{
	return write_pending(j, now, false, err);
}

int jfr_rotate(struct jfr *j, uint64_t real, uint64_t now, struct error *err)
{
	int rc = write_pending(j, now, true, err);

	if (rc)
		return rc;
	jfr_pools_reset(&j->pools);
	jfr_chunk_begin(&j->chunk, j->chunk.start + j->chunk.size, real, now, jfr_ticks(j, now), j->options.tick,
			dialect(j));
	return 0;
}

int jfr_finish(struct jfr *j, uint64_t now, struct error *err)
{
	return write_pending(j, now, true, err);
}

uint64_t jfr_chunk_size(const struct jfr *j)
{
	return j->chunk.size;
}

size_t jfr_chunk_held(const struct jfr *j)
{
	return jfr_pools_bytes(&j->pools);
}

uint64_t jfr_chunk_began(const struct jfr *j)
{
	return j->chunk.began;
}

uint64_t jfr_size(const struct jfr *j)
{
	return j->chunk.start + j->chunk.size;
}

size_t jfr_pending(const struct jfr *j)
{
	return j->events.length + j->cpu.text.length + j->wall.text.length;
}

uint32_t jfr_last_key(const struct jfr *j)
{
	return jfr_pools_last_key(&j->pools);
}
