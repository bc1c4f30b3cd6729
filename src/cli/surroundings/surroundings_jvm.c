/*
 * surroundings_jvm.c - what the JVM itself counts: collections, compilations, classes, threads, from its performance
 * data (none with -XX:-UsePerfData); and what its options say.
 */
#include <stdio.h>
#include <string.h>

#include "cli/attach/process.h"
#include "cli/surroundings/surroundings_look.h"

/* Counters that are summed up as they are, or as ticks of the JVM's clock. */
static const struct {
	const char *name;
	enum surrounding which;
	bool ticks;
} counters[] = {
	{"java.ci.totalTime", AROUND_compiling, true},
	{"sun.ci.totalCompiles", AROUND_compiles, false},
	{"sun.cls.time", AROUND_class_loading, true},
	{"java.cls.loadedClasses", AROUND_classes_loaded, false},
	{"java.cls.sharedLoadedClasses", AROUND_classes_loaded, false},
	{"sun.rt.safepoints", AROUND_safepoints, false},
	{"sun.rt.safepointSyncTime", AROUND_safepoint_sync, true},
	{"sun.rt.safepointTime", AROUND_safepoint_time, true},
	{"java.threads.started", AROUND_threads_started, false},
};

struct reading {
	struct surroundings *s;
	uint64_t frequency; /* ticks a second; 0: not seen yet */
};

static void add(struct surroundings *s, enum surrounding which, uint64_t value)
{
	around_set(s, which, around(s, which) + value);
}

/* Of collectors: 0 is of the young generation, or of both; 1 of the old one; 2 (G1): pauses of its concurrent cycle. */
static bool take_collector(struct surroundings *s, const char *name, uint64_t value)
{
	unsigned collector;
	int end = 0;

	if (sscanf(name, "sun.gc.collector.%u.invocations%n", &collector, &end) == 1 && end && !name[end]) {
		add(s, AROUND_collections, value);
		add(s, AROUND_collections_full, collector == 1 ? value : 0);
		return true;
	}
	end = 0;
	if (sscanf(name, "sun.gc.collector.%u.time%n", &collector, &end) == 1 && end && !name[end]) {
		add(s, AROUND_collecting, value);
		return true;
	}
	return false;
}

static void take(const char *name, uint64_t value, void *arg)
{
	struct reading *r = arg;
	unsigned i;

	if (strcmp(name, "sun.os.hrt.frequency") == 0)
		r->frequency = value;
	if (take_collector(r->s, name, value))
		return;
	for (i = 0; i < ARRAY_LEN(counters); i++)
		if (strcmp(name, counters[i].name) == 0)
			add(r->s, counters[i].which, value);
}

static void scale(struct surroundings *s, enum surrounding which, uint64_t frequency)
{
	if (frequency)
		s->value[which] = (uint64_t)((double)s->value[which] * 1e9 / (double)frequency);
}

/* How often the word OPTION stands in ARGUMENTS, at the begin of one. */
static unsigned count_of(const char *arguments, const char *option)
{
	const char *at = arguments;
	unsigned n = 0;

	while ((at = strstr(at, option))) {
		n += at == arguments || at[-1] == ' ';
		at += strlen(option);
	}
	return n;
}

/* The last one of these counts. */
static bool is_interpreted(const char *arguments)
{
	const char *at;
	bool is = false;

	for (at = arguments; (at = strstr(at, "-X")); at += 2) {
		size_t n = strcspn(at, " ");

		if (at != arguments && at[-1] != ' ')
			continue;
		if (n == 5 && memcmp(at, "-Xint", n) == 0)
			is = true;
		else if ((n == 7 && memcmp(at, "-Xmixed", n) == 0) || (n == 6 && memcmp(at, "-Xcomp", n) == 0))
			is = false;
	}
	return is;
}

static void forget(struct surroundings *s, enum surrounding which)
{
	s->known &= ~((uint64_t)1 << which);
}

/*
 * What the counters of these collectors count is something else: ZGC pauses, of which a collection has three;
 * Shenandoah pauses, all of them as its collector 1, and in JDK 17 more time than the program stood still.
 */
static void forget_other_counts(struct surroundings *s, const char *arguments)
{
	bool shenandoah = count_of(arguments, "-XX:+UseShenandoahGC") > 0;

	if (!shenandoah && !count_of(arguments, "-XX:+UseZGC"))
		return;
	forget(s, AROUND_collections);
	forget(s, AROUND_collections_full);
	if (shenandoah)
		forget(s, AROUND_collecting);
}

static void take_arguments(struct surroundings *s, const struct process_perfdata *p)
{
	forget_other_counts(s, p->arguments);
	around_set(s, AROUND_interpreted_only, is_interpreted(p->arguments));
	around_set(s, AROUND_debugger, count_of(p->arguments, "-agentlib:jdwp") > 0 ||
				       count_of(p->arguments, "-Xrunjdwp") > 0);
	around_set(s, AROUND_java_agents, count_of(p->arguments, "-javaagent:"));
}

void look_at_jvm(struct surroundings *s, pid_t pid, bool options)
{
	struct reading r = {.s = s};
	struct process_perfdata p;
	struct process_status status;
	unsigned i;

	if (process_status(pid, &status))
		return;
	process_perf_numbers(pid, &status, take, &r);
	scale(s, AROUND_collecting, r.frequency);
	for (i = 0; i < ARRAY_LEN(counters); i++)
		if (counters[i].ticks)
			scale(s, counters[i].which, r.frequency);
	if (options && process_perfdata(pid, &status, &p)) {
		take_arguments(s, &p);
		around_set(s, AROUND_debug_build, strstr(p.version, "debug") != NULL);
	}
}
