/*
 * replay - a day of samples through collector and writer, as fast as it goes but at most SPEED times as fast as they
 * would come: what memory does it take after the first hour, and after the last?
 *
 *   replay HOURS SPEED FILE
 *
 * 50 threads on two CPUs at 10 ms: 200 samples a second. Of those 98 % have one of 5,000 stacks, some far
 * more often than others and others each hour, and 2 % a stack that never comes again. There is no JVM: methods lie in plain
 * memory, samples are put into the threads' queues as a handler does it. Chunks begin each 20 minutes of the replay.
 *
 * stdout: a line an hour, "HOUR rss KB nodes N traces BYTES chunks N", the most that was resident in that hour and what
 * the account has at its end, and then "samples N written N speed N bytes N".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/fake_jvm.h"
#include "agent/collect/aggregate.h"
#include "agent/collect/drain.h"
#include "agent/sample/handler.h"
#include "agent/sinks/recording/recording.h"
#include "agent/sources/engine.h"
#include "agent/threads/records.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "common/base/hash.h"
#include "common/elf/elf.h"
#include "common/os/os.h"

enum {
	METHODS = 300, THREADS = 50, STACKS = 5000,
	PER_SECOND = 200, ROUND = 8,  /* samples a thread gets between two drains */
	HOUR = PER_SECOND * 3600,
};

static struct fake_jvm jvm;
static uintptr_t methods[METHODS];
static struct thread_record *threads[THREADS];
static struct stack_chunk chunks[THREADS];
static struct collector *c;
static uint64_t made;

static uint64_t random_number(void)
{
	static uint64_t state;

	return hash_mix(++state);
}

/* The stack that SEED stands for: 8 to 71 frames, its outer ones those of many. */
static const struct stack_trace *stack_of(uint32_t thread, uint64_t seed)
{
	uint32_t depth = 8 + seed % 64, i;
	struct stack_trace_writer w;

	if (!stack_trace_begin(&w, &zone.store, &chunks[thread], 2048))
		return NULL;
	for (i = 0; i < depth; i++) {
		uint64_t frame = hash_mix(i + 10 < depth ? seed + i : depth - i);

		stack_trace_put(&w, frame_java(frame % 3 ? FRAME_C2 : FRAME_INTERPRETED, methods[frame % METHODS],
					 (uint32_t)(frame >> 32) % 90));
	}
	return w.store_full ? NULL : stack_trace_end(&w);
}

static void sample(uint32_t thread)
{
	uint64_t number = random_number(), hour = made / HOUR;
	uint64_t common = number % STACKS * (number >> 32 & 0xffff) >> 16;
	struct sample s = {
		.time = os_monotonic(),
		.weight = 10 * NS_PER_MS,
		.thread = threads[thread]->index,
		.epoch = (uint16_t)method_epoch_now(&zone.epochs),
		.trace = stack_of(thread, number % 50 ? hash_mix(hour << 32 | common) : number),
	};

	made++;
	record_take(threads[thread], 0);
	if (!s.trace || !queue_push(atomic_load(&threads[thread]->current), &s))
		record_lose(threads[thread], 0, s.trace ? LOSS_queue_full : LOSS_store_full, s.weight);
}

static void drain(void)
{
	pthread_mutex_lock(&c->lock);
	drain_all(c);
	zone.has_jvm = false; /* it does not change */
	upkeep(c);
	zone.has_jvm = true;
	pthread_mutex_unlock(&c->lock);
}

static long resident_kb(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (f && fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void set_up(void)
{
	struct collector_options o = {.events = 1, .lines = true};
	struct error err;
	char name[32];
	uint32_t i;

	fake_open(&jvm, FAKE_YOUNG);
	zone.layout = jvm.zone.layout;
	zone.has_jvm = true;
	if (records_open(&engine_records, &err) || upkeep_open(0, &err))
		exit(1);
	for (i = 0; i < METHODS; i++) {
		snprintf(name, sizeof(name), "method%u", i);
		methods[i] = fake_method(&jvm, i % 2 ? "pkg/One" : "pkg/Another", name, "()V", 100);
	}
	for (i = 0; i < THREADS; i++)
		threads[i] = records_found((pid_t)(1 << 22) + (pid_t)i, 0); /* no tid is that high */
	c = collector_new(&engine_of_collector, &o);
	if (!c)
		exit(1);
	aggregate_open(c);
	c->scan_took = 3600 * NS_PER_S; /* no look for threads: those of the system are none of ours */
}

static struct recording *record(const char *path, uint64_t speed)
{
	struct recording_options o = {
		.cpu_events = JFR_CPU_EXECUTION,
		.chunk_size = 1ull << 40,
		.chunk_time = 1200 * NS_PER_S / speed,
	};
	struct recording *r;
	struct error err;

	strcpy(o.events[0].name, "cpu");
	o.events[0].interval = 10 * NS_PER_MS;
	r = recording_new(open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), &o, &err);
	if (!r || recording_begin(r, c, &(struct recording_clocks){0}, &err)) {
		fprintf(stderr, "replay: %s\n", err.text);
		exit(1);
	}
	recording_threads_known(r);
	return r;
}

/* Wait until what was made so far is due. */
static void keep_pace(uint64_t began, uint64_t speed)
{
	uint64_t due = began + made * (NS_PER_S / PER_SECOND) / speed, now = os_monotonic();
	struct timespec t = {0, (long)(due - now)};

	if (due > now && due - now < NS_PER_S)
		nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	uint64_t hours = argc > 3 ? strtoull(argv[1], NULL, 10) : 0, speed = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
	struct recording_totals totals;
	struct recording *r;
	struct error err;
	uint64_t began, hour;
	uint32_t i, round;
	long most;

	if (!hours || !speed)
		return 2;
	set_up();
	r = record(argv[3], speed);
	began = os_monotonic();
	for (hour = 1; hour <= hours; hour++) {
		most = 0;
		for (round = 0; made < hour * HOUR; round++) {
			for (i = 0; i < THREADS * ROUND; i++)
				sample(i % THREADS);
			drain();
			keep_pace(began, speed);
			if (round % 16 == 0)
				most = MAX(most, resident_kb());
		}
		recording_totals(r, &totals);
		printf("%llu rss %ld nodes %zu traces %zu chunks %u\n", (unsigned long long)hour, most, c->nodes.count,
		       stack_store_bytes(&zone.store), totals.chunks);
		fflush(stdout);
	}
	hour = os_monotonic() - began;
	if (recording_end(r, &err)) {
		fprintf(stderr, "replay: %s\n", err.text);
		return 1;
	}
	recording_totals(r, &totals);
	printf("samples %llu written %llu speed %.0f bytes %llu\n", (unsigned long long)made,
	       (unsigned long long)totals.samples, (double)hours * 3600 * NS_PER_S / (double)hour,
	       (unsigned long long)totals.bytes);
	return 0;
}
