#include "collect/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/recording_inner.h"
#include "elf/elf.h"
#include "engine/engine.h"
#include "os/os.h"

#define WRITE_EVERY NS_PER_S
#define HURRY_AT 16384             /* events waiting */
#define MOST_WAITING (1u << 20)    /* beyond, the disk does not keep up */
/* Symbol tables are large: looking names up may take this part of the time. */
#define LOOK_UP_SHARE 200
#define LOOK_UP_LATEST (10 * NS_PER_S)

enum urgency { URGENCY_TURN, URGENCY_FLUSH, URGENCY_END };

/* ---- what the collector calls ---- */

static void wake(struct recording *r, bool stop)
{
	pthread_mutex_lock(&r->wake_lock);
	r->stopping |= stop;
	r->hurry = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->wake_lock);
}

static void on_event(struct sink *s, const struct sink_event *e)
{
	struct recording *r = CONTAINER_OF(s, struct recording, sink);
	struct sink_event *slot = r->pending.count < MOST_WAITING ? VECTOR_PUSH(&r->pending) : NULL;

	if (!slot) {
		r->dropped += e->samples;
		return;
	}
	*slot = *e;
	if (r->pending.count == HURRY_AT)
		wake(r, false);
}

static void note_thread(struct sink *s, uint32_t thread, uint64_t time, bool end)
{
	struct recording *r = CONTAINER_OF(s, struct recording, sink);
	struct thread_note *note = r->notes.count < MOST_WAITING ? VECTOR_PUSH(&r->notes) : NULL;

	if (note)
		*note = (struct thread_note){thread, time, end};
}

/* Of a thread that was there before the recording nobody knows here when it began. */
static void on_thread_begin(struct sink *s, uint32_t thread)
{
	const struct thread_entry *e = &s->collector->threads.items[thread];

	if (e->since > CONTAINER_OF(s, struct recording, sink)->began)
		note_thread(s, thread, e->since, false);
}

static void on_thread_end(struct sink *s, uint32_t thread, uint64_t now)
{
	note_thread(s, thread, now, true);
}

static const struct sink_ops ops = {
	.event = on_event, .thread_begin = on_thread_begin, .thread_end = on_thread_end,
};

/* ---- what goes into the file ---- */

void recording_put_facts(struct recording *r, uint64_t now)
{
	size_t i;

	for (i = 0; i < r->facts.count; i++)
		jfr_event(r->jfr, r->facts.items[i].type, now, r->facts.items[i].values,
			  r->facts.items[i].count);
	r->chunks++;
}

static void drop(struct recording *r, uint64_t samples)
{
	r->dropped += samples;
}

static void put_sample(struct recording *r, const struct sink_event *e)
{
	uint32_t thread = recording_thread(r, e->thread, e->context), stack = recording_stack(r, e->node);
	const char *name = r->options.events[e->event].name;
	enum thread_state state = (enum thread_state)e->state;

	if (!thread || !stack) {
		drop(r, e->samples);
		return;
	}
	r->samples += e->samples;
	switch (r->options.events[e->event].kind) {
	case RECORDING_CPU:
		jfr_cpu_sample(r->jfr, e->time, thread, stack, e->weight);
		break;
	case RECORDING_WALL:
		if (r->options.no_batch && e->samples == 1)
			jfr_wall_sample(r->jfr, e->time, thread, stack, state, e->weight);
		else
			jfr_wall_run(r->jfr, e->time, thread, stack, state, e->samples, e->span, e->weight);
		break;
	case RECORDING_EVENT:
		jfr_event_sample(r->jfr, e->time, thread, stack, THREAD_RUNNING, name, e->weight);
		break;
	}
}

static void put_note(struct recording *r, const struct thread_note *n)
{
	uint32_t thread = recording_thread(r, n->thread, 0);
	const struct jfr_value start[] = {JFR_N(thread), JFR_N(0), JFR_N(thread), JFR_N(0)};
	const struct jfr_value end[] = {JFR_N(thread), JFR_N(thread)};

	if (!thread)
		return;
	if (n->end)
		jfr_event(r->jfr, JFR_THREAD_END, n->time, end, ARRAY_LEN(end));
	else
		jfr_event(r->jfr, JFR_THREAD_START, n->time, start, ARRAY_LEN(start));
}

/* What was lost since the file was last told, by event and reason. Both locks held. */
static void put_losses(struct recording *r, uint64_t now)
{
	struct loss_totals all;
	uint32_t e;
	int i;

	for (e = 0; e < r->collector->options.events; e++) {
		struct loss_totals *told = &r->told[e];
		uint64_t sum = 0;

		account_all_losses(r->collector, e, &all);
		for (i = 0; i < LOSS_REASONS; i++) {
			const struct jfr_value v[] = {
				JFR_S(r->options.events[e].name), JFR_S(loss_names[i].name),
				JFR_N(all.count[i] - told->count[i]), JFR_N(all.weight[i] - told->weight[i]),
			};

			if (v[2].number || v[3].number)
				jfr_event(r->jfr, JFR_SAMPLES_LOST, now, v, ARRAY_LEN(v));
			sum += v[2].number;
		}
		if (sum && r->options.events[e].kind == RECORDING_CPU) {
			const struct jfr_value v[] = {JFR_N(sum), JFR_N(0)};

			jfr_event(r->jfr, JFR_CPU_TIME_SAMPLES_LOST, now, v, ARRAY_LEN(v));
		}
		*told = all;
	}
}

/* The books as they stand, at the end of each chunk. Both locks held. */
void recording_put_counters(struct recording *r, uint64_t now)
{
	const struct collector *c = r->collector;
	struct loss_totals all;
	uint32_t e;
	int i;

	for (e = 0; e < c->options.events; e++) {
		const struct event_account *a = &c->events[e];
		uint64_t lost = 0, weight = 0;

		account_all_losses(r->collector, e, &all);
		for (i = 0; i < LOSS_REASONS; i++) {
			lost += all.count[i];
			weight += all.weight[i];
		}
		{
			const struct jfr_value v[] = {
				JFR_S(r->options.events[e].name), JFR_S(engine_in_force(e)),
				JFR_N(r->options.events[e].interval), JFR_N(a->stored + lost),
				JFR_N(a->stored), JFR_N(lost), JFR_N(r->dropped), JFR_N(a->complete),
				JFR_N(a->weight_stored), JFR_N(weight),
				JFR_N(os_process_cpu() - r->cpu_at_start),
				JFR_N(records_own_cpu() - r->own_at_start),
			};

			jfr_event(r->jfr, JFR_COUNTERS, now, v, ARRAY_LEN(v));
		}
	}
}

/* ---- a turn of the writing thread ---- */

/* Take what the collector has gathered. Both locks held. */
static void take_over(struct recording *r)
{
	typeof(r->pending) empty = r->batch;
	typeof(r->notes) no_notes = r->batch_notes;

	r->batch = r->pending;
	r->batch_notes = r->notes;
	r->pending = empty;
	r->notes = no_notes;
	r->pending.count = r->notes.count = 0;
}

/*
 * Look up names that are missing, if it is time again or FORCE says so. Locks: recording's, images', and
 * the collector's, which is given up meanwhile.
 */
static void name_frames(struct recording *r, bool force, uint64_t now)
{
	struct collector *c = r->collector;
	struct late_frame *late;
	struct late_name *names;
	size_t count;
	uint64_t took;

	if (!c->frames.late.count || (!force && now < r->held_until))
		return;
	late = frames_take_late(&c->frames, &count);
	names = count ? calloc(count, sizeof(*names)) : NULL;
	pthread_mutex_unlock(&c->lock);
	if (names)
		frames_look_up(&zone, late, count, names);
	pthread_mutex_lock(&c->lock);
	if (names)
		frames_give_names(&c->frames, late, count, names);
	free(names);
	free(late);
	took = os_monotonic() - now;
	r->held_until = now + MIN(took * LOOK_UP_SHARE, LOOK_UP_LATEST);
}

static void put_all(struct recording *r, bool everything)
{
	size_t i, kept = 0;

	for (i = 0; i < r->held.count; i++) {
		if (!everything && recording_is_late(r, r->held.items[i].node))
			r->held.items[kept++] = r->held.items[i];
		else
			put_sample(r, &r->held.items[i]);
	}
	r->held.count = kept;
	for (i = 0; i < r->batch.count; i++) {
		const struct sink_event *e = &r->batch.items[i];
		struct sink_event *slot;

		if (everything || !recording_is_late(r, e->node)) {
			put_sample(r, e);
			continue;
		}
		slot = VECTOR_PUSH(&r->held);
		if (slot)
			*slot = *e;
		else
			drop(r, e->samples);
	}
	for (i = 0; i < r->batch_notes.count; i++)
		put_note(r, &r->batch_notes.items[i]);
	r->batch.count = r->batch_notes.count = 0;
}

void recording_put_batch(struct recording *r)
{
	put_all(r, true);
}

/* Names, constants and events, in memory. Recording's lock held. */
static void gather(struct recording *r, enum urgency urgency, uint64_t now)
{
	struct collector *c = r->collector;
	bool everything = urgency != URGENCY_TURN;

	if (everything && c->running)
		engine_flush();
	pthread_mutex_lock(&c->images);
	pthread_mutex_lock(&c->lock);
	if (everything && c->running) {
		account_names(c);
		drain_all(c);
	}
	take_over(r);
	name_frames(r, everything, now);
	put_all(r, everything);
	put_losses(r, now);
	if (urgency == URGENCY_END)
		recording_put_counters(r, now);
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&c->images);
}

static void note_failure(struct recording *r, uint64_t samples, const struct error *err)
{
	r->dropped += samples;
	r->samples -= MIN(samples, r->samples);
	if (!r->failed.code)
		r->failed = *err;
}

/* Whether the chunk is as large or as old as it may be. */
static bool is_full(const struct recording *r, uint64_t now)
{
	return jfr_chunk_size(r->jfr) && (jfr_chunk_size(r->jfr) >= r->options.chunk_size ||
					  now - jfr_chunk_began(r->jfr) >= r->options.chunk_time);
}

/* The next chunk. Recording's lock held. */
static int rotate(struct recording *r, uint64_t now, struct error *err)
{
	struct collector *c = r->collector;
	int rc;

	pthread_mutex_lock(&c->lock);
	recording_put_counters(r, now);
	pthread_mutex_unlock(&c->lock);
	rc = jfr_rotate(r->jfr, os_realtime(), now, err);
	if (rc)
		return rc;
	recording_forget_keys(r);
	recording_put_facts(r, now);
	return 0;
}

static void turn(struct recording *r, enum urgency urgency)
{
	uint64_t now = os_monotonic(), before = r->samples;
	bool full = urgency != URGENCY_END && is_full(r, now);
	struct error err;
	int rc;

	gather(r, full ? URGENCY_FLUSH : urgency, now);
	recording_load(r, now);
	if (full)
		rc = rotate(r, now, &err);
	else if (urgency == URGENCY_END)
		rc = jfr_finish(r->jfr, now, &err);
	else
		rc = jfr_flush(r->jfr, now, &err);
	if (rc)
		note_failure(r, r->samples - before, &err);
}

/* Wait until it is time, or somebody is in a hurry; false at the end. */
static bool wait_for_turn(struct recording *r, uint64_t until)
{
	struct timespec at = {(time_t)(until / NS_PER_S), (long)(until % NS_PER_S)};
	bool go_on;
	int rc = 0;

	pthread_mutex_lock(&r->wake_lock);
	while (rc == 0 && !r->hurry)
		rc = pthread_cond_timedwait(&r->wake, &r->wake_lock, &at);
	r->hurry = false;
	go_on = !r->stopping;
	pthread_mutex_unlock(&r->wake_lock);
	return go_on;
}

static void *run(void *arg)
{
	struct recording *r = arg;

	collect_thread_begin("jstrobe write");
	while (wait_for_turn(r, os_monotonic() + WRITE_EVERY)) {
		pthread_mutex_lock(&r->lock);
		turn(r, URGENCY_TURN);
		pthread_mutex_unlock(&r->lock);
	}
	collect_thread_end();
	return NULL;
}

/* ---- the door ---- */

static int truncate_file(int fd, uint64_t size, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "a recording needs a regular file");
	if (ftruncate(fd, (off_t)size))
		return error_set(err, errno, "the recording's file cannot be written: %s; choose another place",
				 strerror(errno));
	return 0;
}

struct recording *recording_new(int fd, const struct recording_options *o, struct error *err)
{
	struct jfr_options how = {.cpu_events = o->cpu_events, .max_size = o->max_size,
				  .start = o->append.size, .first_key = o->append.last_key,
				  .began = o->append.began};
	struct recording *r = calloc(1, sizeof(*r));
	pthread_condattr_t attr;

	if (!r || truncate_file(fd, o->append.size, err)) {
		if (!r)
			error_set(err, ENOMEM, "out of memory for the recording");
		close(fd);
		free(r);
		return NULL;
	}
	r->sink.ops = &ops;
	r->options = *o;
	r->fd = fd;
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->wake_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->wake, &attr);
	pthread_condattr_destroy(&attr);
	r->began = o->began ? o->began : os_monotonic();
	r->cpu_at_start = os_process_cpu();
	r->own_at_start = records_own_cpu();
	r->jfr = jfr_new(fd, &how, os_realtime() - (os_monotonic() - r->began), r->began);
	if (!r->jfr) {
		error_set(err, ENOMEM, "out of memory for the recording");
		recording_free(r);
		return NULL;
	}
	return r;
}

void recording_fact(struct recording *r, unsigned type, const struct jfr_value *values, unsigned count)
{
	struct recording_fact *f = count <= RECORDING_FACT_VALUES ? VECTOR_PUSH(&r->facts) : NULL;
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

int recording_begin(struct recording *r, struct collector *c, struct error *err)
{
	int rc;

	r->collector = c;
	recording_put_facts(r, r->began);
	/* in the file from the first second: also when nothing ever happens */
	rc = jfr_flush(r->jfr, os_monotonic(), err);
	if (rc)
		return rc;
	sink_add(c, &r->sink);
	rc = collect_thread_start(&r->thread, run, r, err);
	if (rc)
		sink_remove(&r->sink);
	r->running = rc == 0;
	return rc;
}

int recording_flush(struct recording *r, struct error *err)
{
	int rc = 0;

	pthread_mutex_lock(&r->lock);
	if (r->running)
		turn(r, URGENCY_FLUSH);
	if (r->failed.code) {
		*err = r->failed;
		rc = -err->code;
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}

int recording_copy(struct recording *r, struct buffer *out, struct error *err)
{
	char bytes[16384];
	uint64_t at = 0, size;
	ssize_t n = 1;

	pthread_mutex_lock(&r->lock);
	size = jfr_size(r->jfr);
	while (at < size && n > 0) {
		n = pread(r->fd, bytes, MIN(sizeof(bytes), size - at), (off_t)at);
		if (n > 0)
			buffer_append(out, bytes, (size_t)n);
		at += n > 0 ? (uint64_t)n : 0;
	}
	pthread_mutex_unlock(&r->lock);
	if (n <= 0)
		return error_set(err, n ? errno : EIO, "the recording cannot be read back: %s",
			       n ? strerror(errno) : "it is shorter than what was written");
	return 0;
}

int recording_end(struct recording *r, struct error *err)
{
	int rc = 0;

	if (r->running) {
		wake(r, true);
		pthread_join(r->thread, NULL);
		pthread_mutex_lock(&r->lock);
		turn(r, URGENCY_END);
		r->running = false;
		pthread_mutex_unlock(&r->lock);
		sink_remove(&r->sink);
	}
	if (r->failed.code) {
		*err = r->failed;
		rc = -err->code;
	}
	return rc;
}

void recording_free(struct recording *r)
{
	size_t i;
	unsigned v;

	if (!r)
		return;
	for (i = 0; i < r->facts.count; i++)
		for (v = 0; v < r->facts.items[i].count; v++)
			free((char *)(uintptr_t)r->facts.items[i].values[v].text);
	free(r->facts.items);
	jfr_free(r->jfr);
	close(r->fd);
	free(r->pending.items);
	free(r->notes.items);
	free(r->batch.items);
	free(r->batch_notes.items);
	free(r->held.items);
	free(r->stacks.items);
	free(r->methods.items);
	free(r->threads.items);
	map_free(&r->contexts);
	recording_load_free(r);
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->wake_lock);
	pthread_cond_destroy(&r->wake);
	free(r);
}

void recording_totals(struct recording *r, struct recording_totals *t)
{
	pthread_mutex_lock(&r->lock);
	t->bytes = jfr_size(r->jfr);
	t->samples = r->samples;
	t->dropped = r->dropped;
	t->chunks = r->chunks;
	t->last_key = jfr_last_key(r->jfr);
	t->began = r->options.append.began ? r->options.append.began : r->began;
	pthread_mutex_unlock(&r->lock);
}

void recording_identity(struct recording *r, dev_t *device, ino_t *inode)
{
	struct stat st;

	memset(&st, 0, sizeof(st));
	fstat(r->fd, &st);
	*device = st.st_dev;
	*inode = st.st_ino;
}
