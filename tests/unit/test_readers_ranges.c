/* --from and --to: of batches and waits the part inside counts, and settings are of their own event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "made_jfr.h"
#include "profile/readers/readers.h"
#include "profile/writers/format.h"

#define START 1790000000000000000ll
#define TICKS 5000000
#define RATE 1000000 /* ticks a second: one is a microsecond */
#define LENGTH 2000000 /* ticks of each of two chunks */
#define EVENTS 60

struct lasting {
	uint64_t at, took, samples; /* ticks; samples 0: a wait */
};

static void put_wait(struct made *m, uint64_t at, uint64_t took)
{
	made_event(m, MADE_MONITOR);
	made_long(m, TICKS + at);
	made_long(m, took);
	made_long(m, 1);
	made_long(m, 1);
	made_long(m, 1);
	made_event_end(m);
}

/* Each in the chunk in which it ends, as recorders write them. */
static void put_all(struct made *m, const struct lasting *all)
{
	unsigned chunk, i;

	for (chunk = 0; chunk < 2; chunk++) {
		made_begin(m, START + (int64_t)chunk * LENGTH * 1000, TICKS + chunk * LENGTH, RATE);
		made_usual_constants(m, 0);
		for (i = 0; i < EVENTS; i++) {
			if ((all[i].at + all[i].took) / LENGTH != chunk)
				continue;
			if (all[i].samples)
				made_wall(m, TICKS + all[i].at, 1, 1, 3, all[i].samples, all[i].took);
			else
				put_wait(m, all[i].at, all[i].took);
		}
		made_end(m, (int64_t)LENGTH * 1000);
	}
}

static void choose(struct lasting *all)
{
	unsigned i;

	for (i = 0; i < EVENTS; i++) {
		uint64_t took = i % 10 ? (uint64_t)rand() % (i % 3 ? 300000 : 3000000) : 0;

		all[i] = (struct lasting){(uint64_t)rand() % (2 * LENGTH - took), took, 0};
		if (i % 2)
			all[i].samples = 1 + (uint64_t)rand() % 40;
		if (all[i].samples == 1)
			all[i].took = 0;
	}
}

struct sums {
	uint64_t samples, weight;
};

/* What ALL come to between FROM and TO ticks. */
static void expected(const struct lasting *all, uint64_t from, uint64_t to, struct sums *wall, struct sums *lock)
{
	uint64_t k, begin, end, at;
	unsigned i;

	*wall = *lock = (struct sums){0};
	for (i = 0; i < EVENTS; i++) {
		const struct lasting *e = &all[i];

		for (k = 0; k < e->samples; k++) {
			/* not rounded: at × steps */
			uint64_t steps = e->samples > 1 ? e->samples - 1 : 1;

			at = e->at * steps + k * e->took;
			wall->samples += at >= from * steps && at < to * steps;
		}
		if (e->samples)
			continue;
		begin = e->at > from ? e->at : from;
		end = e->at + e->took < to ? e->at + e->took : to;
		lock->samples += e->took ? end > begin : e->at >= from && e->at < to;
		lock->weight += end > begin ? (end - begin) * 1000 : 0;
	}
}

/* What the file called NAME has between FROM and TO µs, and that its times are inside. */
static void found(const char *name, uint64_t from, uint64_t to, const char *format, bool threads, struct sums *wall,
		  struct sums *lock)
{
	const struct profile *const *profiles;
	struct conversion *c;
	struct options o;
	struct error err;
	uint32_t count, i;
	uint64_t m;

	options_init(&o);
	strcpy(o.families, "wall,lock");
	strcpy(o.format, format);
	o.threads = threads;
	snprintf(o.from, sizeof(o.from), "%lluus", (unsigned long long)from);
	snprintf(o.to, sizeof(o.to), "%lluus", (unsigned long long)to);
	*wall = *lock = (struct sums){0};
	if (readers_read(name, &o, false, &c, &err))
		return;
	profiles = convert_profiles(c, &count);
	for (i = 0; i < count; i++) {
		const struct profile *p = profiles[i];
		struct sums *s = strcmp(p->event, "wall") == 0 ? wall : lock, moments = {0};

		*s = (struct sums){p->stored, s == wall ? 0 : p->weight_stored};
		for (m = 0; m < p->moment_count; m++) {
			moments.samples += p->moments[m].samples;
			moments.weight += p->moments[m].weight;
			assert_true(((uint64_t)p->moments[m].at + p->moments[m].span) * p->moment_step <
				    (to - from) * 1000 + p->moment_step);
		}
		if (strcmp(format, "collapsed") == 0)
			continue;
		assert_int_equal(moments.samples, p->stored);
		assert_int_equal(moments.weight, p->weight_stored);
	}
	readers_free(c);
}

static void of_what_lasts_the_part_inside(void **state)
{
	const char *formats[] = {"json", "flamegraph", "collapsed"};
	struct sums wall, lock, wall_wanted, lock_wanted;
	struct lasting all[EVENTS];
	struct made m = {.ours = false};
	unsigned round;
	uint64_t from, to;

	for (round = 0; round < 200; round++) {
		m = (struct made){.ours = round % 2, .wide = round % 3 == 0};
		choose(all);
		put_all(&m, all);
		from = (uint64_t)rand() % (2 * LENGTH - 1);
		to = from + 1 + (uint64_t)rand() % (2 * LENGTH - from);
		expected(all, from, to, &wall_wanted, &lock_wanted);
		found(made_file(&m), from, to, formats[round % 3], round % 5 == 0, &wall, &lock);
		assert_int_equal(wall.samples, wall_wanted.samples);
		assert_int_equal(lock.samples, lock_wanted.samples);
		assert_int_equal(lock.weight, lock_wanted.weight);
		made_free(&m);
	}
}

/* Sums and moments of EVENT of the file called NAME, all of it. */
static struct sums whole_of(const char *name, const char *event, struct profile_moment *last)
{
	const struct profile *const *profiles;
	struct conversion *c;
	struct options o;
	struct error err;
	struct sums sums;
	uint32_t count;

	options_init(&o);
	strcpy(o.families, event);
	strcpy(o.format, "html");
	if (readers_read(name, &o, false, &c, &err))
		fail_msg("%s", err.text);
	profiles = convert_profiles(c, &count);
	assert_int_equal(count, 1);
	sums = (struct sums){profiles[0]->stored, profiles[0]->weight_stored};
	if (last)
		*last = profiles[0]->moments[profiles[0]->moment_count - 1];
	readers_free(c);
	return sums;
}

/* How many steps the page and the JSON of the file called NAME say it is long. */
static void expect_steps(const char *name, const char *in_page, const char *in_json)
{
	const struct format_options options = {.total = true};
	const char *const formats[] = {"flamegraph", "json"};
	const struct profile *const *profiles;
	struct conversion *c;
	struct options o;
	struct error err;
	uint32_t count;
	size_t i;

	options_init(&o);
	strcpy(o.families, "lock");
	strcpy(o.format, "html");
	if (readers_read(name, &o, false, &c, &err))
		fail_msg("%s", err.text);
	profiles = convert_profiles(c, &count);
	for (i = 0; i < 2; i++) {
		struct buffer out = BUFFER_INIT;

		format_write(format_by_name(formats[i]), profiles, count, &options, &out, NULL);
		buffer_putc(&out, '\0');
		assert_non_null(strstr(out.data, i ? in_json : in_page));
		buffer_free(&out);
	}
	readers_free(c);
}

/* A wait that began 6 s before the recording, and ended at 2 s of it: 2 s, at its beginning. One beyond its end is whole. */
static void waits_from_before(void **state)
{
	struct made m = {.wide = false};
	struct profile_moment moment;
	struct sums lock;
	const char *name;

	(void)state;
	made_begin(&m, START, 10 * RATE, RATE);
	made_usual_constants(&m, 0);
	put_wait(&m, 4 * RATE - TICKS, 8 * RATE);
	made_end(&m, 5 * (int64_t)RATE * 1000);
	name = made_file(&m);
	lock = whole_of(name, "lock", &moment);
	assert_int_equal(lock.samples, 1);
	assert_int_equal(lock.weight, 2000000000);
	assert_int_equal(moment.at, 0);
	assert_int_equal(moment.span, 2000);
	assert_int_equal(moment.weight, 2000000000);
	made_free(&m);
	m = (struct made){.wide = false};
	made_begin(&m, START, 10 * RATE, RATE);
	made_usual_constants(&m, 0);
	put_wait(&m, 1 * RATE - TICKS, 2 * RATE); /* all of it before: as clocks that differ have it */
	put_wait(&m, 11 * RATE - TICKS, 8 * RATE);
	made_end(&m, 2 * (int64_t)RATE * 1000);
	name = made_file(&m);
	lock = whole_of(name, "lock", &moment);
	expect_steps(name, "\"steps\":9001,", "\"steps\": 9001,");
	assert_int_equal(lock.samples, 2);
	assert_int_equal(lock.weight, 10000000000);
	assert_int_equal(moment.span, 8000);
	made_free(&m);
}

/* A batch of fewer samples than none has none. */
static void samples_below_0(void **state)
{
	struct made m = {.wide = false};
	struct sums wall;

	(void)state;
	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	made_wall(&m, TICKS + 1, 1, 1, 3, (uint32_t)-1, 0);
	made_wall(&m, TICKS + 2, 1, 1, 3, 5, 0);
	made_end(&m, (int64_t)LENGTH * 1000);
	wall = whole_of(made_file(&m), "wall", NULL);
	assert_int_equal(wall.samples, 5);
	made_free(&m);
}

static void put_setting(struct made *m, const char *name, const char *value)
{
	made_event(m, MADE_SETTING);
	made_long(m, TICKS);
	made_long(m, MADE_RECORDING);
	made_text(m, name);
	made_text(m, value);
	made_event_end(m);
}

static void put_alloc(struct made *m)
{
	made_event(m, MADE_ALLOC);
	made_long(m, TICKS + 1);
	made_long(m, 1);
	made_long(m, 1);
	made_long(m, 1);
	made_long(m, 524288);
	made_event_end(m);
}

/* The interval of EVENT in M, of all of it or a PART. */
static uint64_t interval_of(const struct made *m, const char *event, bool part)
{
	const struct profile *const *profiles;
	uint64_t interval = UINT64_MAX;
	struct conversion *c;
	struct options o;
	struct error err;
	uint32_t count, i;

	options_init(&o);
	strcpy(o.format, "json");
	strcpy(o.to, part ? "900ms" : "");
	assert_int_equal(readers_read(made_file(m), &o, false, &c, &err), 0);
	profiles = convert_profiles(c, &count);
	for (i = 0; i < count; i++)
		if (strcmp(profiles[i]->event, event) == 0)
			interval = profiles[i]->interval;
	readers_free(c);
	return interval;
}

static void an_interval_is_of_its_event(void **state)
{
	const char *const settings[][2] = {{"cpu", "10000000"}, {"wall", "50000000"}, {"lock", "10000"},
					   {"alloc", "524288"}};
	struct made m;
	unsigned order, i, k;

	for (order = 0; order < ARRAY_LEN(settings); order++) {
		m = (struct made){.ours = true};
		made_begin(&m, START, TICKS, RATE);
		made_usual_constants(&m, 0);
		for (i = 0; i < ARRAY_LEN(settings); i++) {
			k = (i + order) % ARRAY_LEN(settings);
			put_setting(&m, "event", settings[k][0]);
			put_setting(&m, "interval", settings[k][1]);
		}
		made_execution(&m, TICKS, 1, 1, 1);
		made_wall(&m, TICKS, 1, 1, 3, 11, 1000000);
		put_wait(&m, 5, 100);
		put_alloc(&m);
		made_end(&m, 2000000000);
		for (i = 0; i < 2 * ARRAY_LEN(settings); i++)
			assert_int_equal(interval_of(&m, settings[i / 2][0], i % 2), strtoull(settings[i / 2][1], NULL, 10));
		made_free(&m);
	}
}

static char *samples_of(const struct made *m, const char *filter)
{
	static char text[200];
	const struct profile *const *profiles;
	struct conversion *c;
	struct options o;
	struct error err;
	uint32_t count;

	options_init(&o);
	strcpy(o.filter, filter);
	if (readers_read(made_file(m), &o, true, &c, &err)) {
		snprintf(text, sizeof(text), "%s", err.text + strcspn(err.text, ":") + 2);
		return text;
	}
	profiles = convert_profiles(c, &count);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)profiles[0]->stored);
	readers_free(c);
	return text;
}

static void threads_by_id_or_name(void **state)
{
	/* as the command keeps it, and as it may be written */
	const char *const lists[][2] = {
		{"name:main", "1"}, {"name:worker", "2"}, {"name:m*", "1"}, {"name:*ker", "2"}, {"name:*ork*", "2"},
		{"name:*", "3"}, {"90-101", "1"}, {"90-101;name:w*", "3"}, {"name:main,102", "3"}, {"102", "2"},
	};
	struct made m = {.ours = false};
	size_t i;

	made_begin(&m, START, TICKS, RATE);
	made_usual_constants(&m, 0);
	made_execution(&m, TICKS, 1, 1, 1);
	made_execution(&m, TICKS, 2, 1, 1);
	made_execution(&m, TICKS + 1, 2, 1, 1);
	made_end(&m, 1000000);
	for (i = 0; i < ARRAY_LEN(lists); i++)
		assert_string_equal(samples_of(&m, lists[i][0]), lists[i][1]);
	assert_non_null(strstr(samples_of(&m, "name:orker"), "no sample is left"));
	assert_non_null(strstr(samples_of(&m, "name:main;group:main"), "does not say of which groups"));
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_what_lasts_the_part_inside),
		cmocka_unit_test(waits_from_before),
		cmocka_unit_test(samples_below_0),
		cmocka_unit_test(an_interval_is_of_its_event),
		cmocka_unit_test(threads_by_id_or_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
