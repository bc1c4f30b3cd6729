/*
 * firefox.c - the processed format of the Firefox Profiler, version 60, which newer pages upgrade: a process for each
 * event, in it its threads, the heaviest first, with their samples in the order of time.
 *
 * Where it is not known when samples were taken, the stacks of a thread stand one after the other, as long as they
 * weigh.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/wide.h"
#include "profile/exports/export.h"
#include "profile/exports/firefox_tables.h"
#include "profile/exports/timed_samples.h"
#include "profile/model/profile_unit.h"

#define VERSION 60
#define SHOWN 12 /* threads of an event that are tracks at first */

/* One event. */
struct source {
	const struct profile *p;
	uint32_t *stacks;       /* by stack of P, its number in the file */
	struct timed_samples samples;
	struct order {
		uint64_t weight;
		size_t from, to;    /* its samples */
		uint32_t thread;
	} *threads;             /* that have samples, the heaviest first */
	uint32_t thread_count;
};

static int by_weight(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static bool find_threads(struct source *s)
{
	size_t i;

	s->threads = calloc((size_t)s->p->thread_count + 1, sizeof(*s->threads));
	for (i = 0; s->threads && i < s->samples.count; i++) {
		struct order *o = s->thread_count ? &s->threads[s->thread_count - 1] : NULL;

		if (!o || o->thread != s->samples.items[i].thread) {
			o = &s->threads[s->thread_count++];
			*o = (struct order){.thread = s->samples.items[i].thread, .from = i};
		}
		o->weight = wide_add(o->weight, s->samples.items[i].weight);
		o->to = i + 1;
	}
	if (s->threads)
		qsort(s->threads, s->thread_count, sizeof(*s->threads), by_weight);
	return s->threads;
}

/* ---- the file ---- */

static void put_ms(struct json_writer *w, const char *key, uint64_t ns)
{
	char text[40];

	snprintf(text, sizeof(text), "%llu.%06llu", (unsigned long long)(ns / NS_PER_MS),
		 (unsigned long long)(ns % NS_PER_MS));
	json_put_value(w, key, text);
}

static void put_type(struct json_writer *w, const struct profile *p)
{
	json_put_text(w, "weightType", profile_is_time(p) ? "tracing-ms" : p->weight_kind == WEIGHT_BYTES ? "bytes"
												     : "samples");
}

/* How much of ENTRY's time its thread had a CPU; of wall time as far as its state says so. */
static uint64_t cpu_of(const struct profile *p, const struct timed_sample *e)
{
	uint8_t state = e->stack == PROFILE_NO_STACK ? THREAD_NONE : p->stacks[e->stack].state;

	return profile_is_time(p) && (state == THREAD_NONE || state == THREAD_RUNNING) &&
	       p->weight_kind != WEIGHT_WAIT ? e->weight : 0;
}

static void put_samples(struct json_writer *w, const struct source *s, const struct order *o)
{
	size_t i;

	json_object(w, "samples");
	json_array(w, "stack");
	for (i = o->from; i < o->to; i++)
		if (s->samples.items[i].stack == PROFILE_NO_STACK)
			json_put_value(w, NULL, "null");
		else
			json_put_number(w, NULL, s->stacks[s->samples.items[i].stack]);
	json_end(w);
	json_array(w, "time");
	for (i = o->from; i < o->to; i++)
		put_ms(w, NULL, s->samples.items[i].time);
	json_end(w);
	json_array(w, "weight");
	for (i = o->from; i < o->to; i++)
		if (profile_is_time(s->p))
			put_ms(w, NULL, s->samples.items[i].weight);
		else
			json_put_number(w, NULL, s->samples.items[i].weight);
	json_end(w);
	put_type(w, s->p);
	json_array(w, "threadCPUDelta");
	for (i = o->from; i < o->to; i++)
		json_put_number(w, NULL, cpu_of(s->p, &s->samples.items[i]));
	json_end(w);
	json_put_number(w, "length", o->to - o->from);
	json_end(w);
}

/* Of which process it is a thread: the program's, once for each event. */
static void put_process(struct json_writer *w, const struct profile *p, bool first)
{
	struct buffer text = BUFFER_INIT;

	buffer_printf(&text, first ? "%d" : "%d %s", p->pid, p->event);
	json_put_text(w, "pid", buffer_text(&text, w->out));
	text.length = 0;
	buffer_printf(&text, "%s%s%s", p->event, *p->main_class ? " of " : "", p->main_class);
	json_put_text(w, "processName", buffer_text(&text, w->out));
	buffer_free(&text);
}

static void put_thread(struct json_writer *w, const struct source *s, const struct order *o, bool first)
{
	const struct profile_thread *thread = o->thread < s->p->thread_count ? &s->p->threads[o->thread] : NULL;

	json_object(w, NULL);
	json_put_text(w, "processType", "default");
	put_process(w, s->p, first);
	json_put_numbers(w, {"processStartupTime", 0}, {"registerTime", 0});
	json_put_value(w, "processShutdownTime", "null");
	json_put_value(w, "unregisterTime", "null");
	json_array(w, "pausedRanges");
	json_end(w);
	json_put_text(w, "name", thread ? thread->name : "all threads");
	json_put_number(w, "tid", thread ? thread->tid : 0);
	json_put_bool(w, "isMainThread", false);
	put_samples(w, s, o);
	firefox_put_empty_table(w, "markers", "data", "name", "startTime", "endTime", "phase", "category");
	json_end(w);
}

static void put_shown(struct json_writer *w, const struct source *sources, uint32_t count)
{
	uint32_t i, k, number = 0;

	json_array(w, "initialVisibleThreads");
	for (i = 0; i < count; number += sources[i++].thread_count)
		for (k = 0; k < MIN(sources[i].thread_count, (uint32_t)SHOWN); k++)
			json_put_number(w, NULL, number + k);
	json_end(w);
	json_array(w, "initialSelectedThreads");
	if (number)
		json_put_number(w, NULL, 0);
	json_end(w);
}

static void put_meta(struct json_writer *w, const struct source *sources, uint32_t count)
{
	const struct profile *p = sources[0].p;

	json_object(w, "meta");
	put_ms(w, "interval", profile_is_time(p) && p->interval ? p->interval : NS_PER_MS);
	put_ms(w, "startTime", p->started_at);
	json_put_number(w, "profilingStartTime", 0);
	put_ms(w, "profilingEndTime", p->duration);
	json_put_numbers(w, {"processType", 0}, {"stackwalk", 1}, {"version", 30},
			 {"preprocessedProfileVersion", VERSION});
	json_put_texts(w, {"product", p->title ? p->title : *p->main_class ? p->main_class : "Java"},
		       {"importedFrom", "jstrobe " JSTROBE_VERSION}, {"platform", "X11"}, {"oscpu", "Linux"},
		       {"misc", p->jdk});
	json_put_bool(w, "debug", false);
	json_put_bool(w, "symbolicated", true);
	json_put_bool(w, "usesOnlyOneStackType", true);
	json_put_bool(w, "sourceCodeIsNotOnSearchfox", true);
	json_put_bool(w, "keepProfileThreadOrder", true);
	json_object(w, "sampleUnits");
	json_put_texts(w, {"time", "ms"}, {"eventDelay", "ms"}, {"threadCPUDelta", "ns"});
	json_end(w);
	firefox_put_categories(w);
	json_array(w, "markerSchema");
	json_end(w);
	put_shown(w, sources, count);
	json_end(w);
}

static void put_all(struct json_writer *w, struct firefox_tables *tables, const struct source *sources, uint32_t count)
{
	uint32_t i, k;

	json_object(w, NULL);
	put_meta(w, sources, count);
	json_array(w, "libs");
	json_end(w);
	firefox_put_tables(w, tables);
	json_array(w, "threads");
	for (i = 0; i < count; i++)
		for (k = 0; k < sources[i].thread_count && !w->out->failed; k++)
			put_thread(w, &sources[i], &sources[i].threads[k], !i);
	json_end(w);
	json_end(w);
}

void export_firefox(const struct profile *const *profiles, uint32_t count, const struct format_options *options,
		    struct buffer *out)
{
	struct source *sources = calloc(count, sizeof(*sources));
	struct firefox_tables tables = {.failed = false};
	struct json_writer w = JSON_WRITER(out, JSON_PAGE);
	bool ok = sources;
	uint32_t i;

	for (i = 0; ok && i < count; i++) {
		struct source *s = &sources[i];

		s->p = profiles[i];
		s->stacks = firefox_stacks(&tables, s->p, options);
		ok = s->stacks && timed_samples_build(&s->samples, s->p) &&
		     timed_samples_by_thread(&s->samples) && find_threads(s);
	}
	if (ok)
		put_all(&w, &tables, sources, count);
	else if (!out->failed)
		out->failed = ENOMEM;
	for (i = 0; sources && i < count; i++) {
		free(sources[i].stacks);
		timed_samples_free(&sources[i].samples);
		free(sources[i].threads);
	}
	free(sources);
	firefox_tables_free(&tables);
}
