/*
 * calls_jfr.c - a trace as a recording: jdk.MethodTiming for each method and jdk.MethodTrace for each slow call, as the
 * JDK 25 writes them (JEP 520), so that its `jfr view method-timing`, `method-calls` and JMC show them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/map.h"
#include "profile/model/calls.h"
#include "profile/writers/jfr/jfr.h"
#include "profile/writers/writers.h"

#define NOT_KNOWN ((uint64_t)1 << 63) /* Long.MIN_VALUE, as the event's description says */
#define BEGAN NS_PER_S                /* any time that is not 0 */

static void put_jvm(struct jfr *j, const struct profile *p, uint64_t time)
{
	const struct jfr_value values[] = {
		JFR_S(""), JFR_S(p->jdk), JFR_S(""), JFR_S(""), JFR_S(p->main_class), JFR_N(0), JFR_N(p->pid),
	};

	jfr_event(j, JFR_JVM_INFORMATION, time, values, ARRAY_LEN(values));
}

/* A method's key, 0: out of memory. Classes are spelled with slashes there, hidden ones as the JVM does: Name+0x…. */
static uint32_t method_key(struct jfr *j, const char *class_name, const char *name, const char *type)
{
	char *spelled = strdup(class_name), *hidden, *dot;
	uint32_t key = 0;

	for (dot = spelled; dot && (dot = strchr(dot, '.')); )
		*dot = '/';
	hidden = spelled ? strstr(spelled, "/0x") : NULL;
	if (hidden)
		*hidden = '+';
	if (spelled)
		key = jfr_method(j, spelled, name, type, false);
	free(spelled);
	return key;
}

static bool put_method(struct jfr *j, const struct calls *c, const struct calls_method *m, uint64_t time)
{
	uint32_t key = method_key(j, m->class_name, m->name, m->type);

	if (!key)
		return false;
	jfr_event(j, JFR_METHOD_TIMING, time, (const struct jfr_value[]){
		JFR_N(key), JFR_N(m->count),
		JFR_N(m->spread.timed ? m->spread.min : NOT_KNOWN),
		JFR_N(c->timed && m->count ? m->total.wall / m->count : NOT_KNOWN),
		JFR_N(m->spread.timed ? m->spread.max : NOT_KNOWN),
	}, 5);
	return true;
}

/* STACK as a key, 0: out of memory. */
static uint32_t stack_of(struct jfr *j, const struct calls *c, const struct calls_stack *stack)
{
	struct jfr_frame *frames = calloc(stack->count + 1ul, sizeof(*frames));
	uint32_t i, key = 0;
	bool whole = frames;

	for (i = 0; whole && i < stack->count; i++) {
		const struct calls_frame *f = &c->frames[stack->frames[i]];

		frames[i] = (struct jfr_frame){
			.method = method_key(j, f->class_name, f->name, f->type),
			.line = f->line, .bci = JFR_NO_BCI, .kind = FRAME_C2,
		};
		whole = frames[i].method;
	}
	if (whole)
		key = jfr_stack(j, frames, stack->count, stack->truncated);
	free(frames);
	return key;
}

/* The thread of E, 0: out of memory; in KEYS once for all of its calls. */
static uint32_t thread_of(struct jfr *j, const struct calls_event *e, struct map *keys)
{
	struct jfr_thread thread = {.java_id = e->thread_id, .is_java = true, .name = e->thread};
	uint32_t *key = map_put(keys, e->thread_id, NULL);

	if (key && !*key)
		*key = jfr_thread(j, &thread);
	return key ? *key : 0;
}

/* Calls that took longer than --latency. */
static bool put_event(struct jfr *j, const struct profile *p, const struct calls_event *e, struct map *threads)
{
	const struct calls *c = p->calls;
	const struct calls_method *m = &c->methods[e->method];
	uint64_t since = e->started_at > p->started_at ? e->started_at - p->started_at : 0;
	uint32_t by = thread_of(j, e, threads), stack = stack_of(j, c, &c->stacks[e->stack]);
	uint32_t method = method_key(j, m->class_name, m->name, m->type);

	if (!by || !stack || !method)
		return false;
	jfr_event(j, JFR_METHOD_TRACE, BEGAN + since, (const struct jfr_value[]){
		JFR_N(e->duration), JFR_N(by), JFR_N(stack), JFR_N(method),
	}, 4);
	return true;
}

int calls_jfr_write(const struct profile *p, uint32_t *key, int fd, struct error *err)
{
	const struct calls *c = p->calls;
	const struct jfr_options how = {.began = BEGAN, .tick = JFR_TICK_EXACT, .first_key = *key};
	struct jfr *j = jfr_new(fd, &how, p->started_at, BEGAN);
	uint64_t end = BEGAN + p->duration;
	struct map threads = {.slots = NULL};
	int rc = error_set(err, ENOMEM, "out of memory for the calls");
	bool whole = j;
	uint32_t i;

	if (j)
		put_jvm(j, p, BEGAN);
	for (i = 0; whole && i < c->method_count; i++)
		whole = !c->methods[i].count || put_method(j, c, &c->methods[i], end);
	for (i = 0; whole && i < c->event_count; i++)
		whole = put_event(j, p, &c->events[i], &threads);
	if (whole)
		rc = jfr_finish(j, end, err);
	if (rc == 0)
		*key = jfr_last_key(j);
	jfr_free(j);
	map_free(&threads);
	return rc;
}

void calls_jfr(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	int fd = memfd_create("jstrobe trace", MFD_CLOEXEC);
	struct error err;
	uint32_t key = 0;
	int rc = fd < 0 ? -EMFILE : calls_jfr_write(p, &key, fd, &err);

	if (rc == 0)
		buffer_append_file(out, fd);
	else if (!out->failed)
		out->failed = -rc;
	if (fd >= 0)
		close(fd);
}
