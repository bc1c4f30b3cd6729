#include "agent/hooks/faults.h"
#include "agent/sources/engine.h"
#include "agent/sources/engine_clocks.h"
#include "agent/threads/records.h"
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "agent/walk/fault.h"
#include "common/os/os.h"
#include "entries.h"

#define LIBC_FLAG 0x04000000u /* SA_RESTORER, which libc adds whenever it sets an action */

static struct {
	struct collector *collector;
	struct profile *profile;
	uint64_t cpu, own, interval;
	struct buffer notes;
	char engine[32];
	bool running;
} session;

/* What a session is started with. It is poisoned and unmapped afterwards: no code may go back to it. */
struct given {
	struct engine_options engine;
	struct collector_options collector;
	struct engine_event events[RECORD_EVENTS];
};

static struct given where_mappings_fail;

static struct given *give(uint32_t queue, const char *fail)
{
	struct given *g = mmap(NULL, sizeof(*g), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (g == MAP_FAILED)
		g = memset(&where_mappings_fail, 0, sizeof(*g));
	g->engine.events = g->events;
	g->engine.queue_start = queue;
	snprintf(g->engine.fail, sizeof(g->engine.fail), "%s", fail ? fail : "");
	snprintf(g->engine.wall_mode, sizeof(g->engine.wall_mode), "%s",
		 strcmp(g->engine.fail, "slots") == 0 ? "slots" : "");
	g->collector.per_thread = true;
	return g;
}

static void take_away(struct given *g)
{
	memset(g, 0xa5, sizeof(*g));
	if (g != &where_mappings_fail)
		munmap(g, sizeof(*g));
}

int harness_start(const struct engine_ops *ops, uint64_t interval, uint32_t queue, const char *fail,
		  struct error *err)
{
	const char *name = ops == &engine_perf ? "cpu" : ops->name;

	return harness_start_events(name, interval, queue, fail, err);
}

static int resolve(const char *names, uint64_t interval, struct given *g, struct error *err)
{
	char list[256], *at = NULL, *word;
	uint32_t *count = &g->engine.count;

	strcpy(list, names);
	for (word = strtok_r(list, ",", &at); word; word = strtok_r(NULL, ",", &at), ++*count) {
		if (event_resolve(word, *count ? 0 : interval, &g->events[*count], err))
			return -err->code;
		g->collector.waits[*count] = g->events[*count].weight == WEIGHT_WAIT;
	}
	g->collector.events = *count;
	return 0;
}

static int start(struct given *g, struct error *err)
{
	int rc;

	zone.depth = 2048;
	rc = records_open(&engine_records, err);
	if (rc == 0)
		rc = faults_install(err);
	if (rc)
		return rc;
	/* Behind us is cmocka's handler, which changes nothing. */
	atomic_store(&fault_front, fault_in_force(SIGSEGV));
	fault_trust();
	session.collector = collector_new(&engine_of_collector, &g->collector);
	rc = session.collector ? collector_open(session.collector, err) : error_set(err, ENOMEM, "no aggregate");
	if (rc == 0 && collector_start(session.collector, err)) {
		collector_stop(session.collector);
		collector_release(session.collector);
		rc = -err->code;
	}
	if (rc) {
		faults_remove();
		collector_free(session.collector);
		return rc;
	}
	session.cpu = os_process_cpu();
	session.own = records_own_cpu();
	engine_clocks_begin();
	rc = engine_start(&g->engine, &session.notes, err);
	if (rc) {
		collector_stop(session.collector);
		collector_release(session.collector);
		faults_remove();
		collector_free(session.collector);
		buffer_free(&session.notes);
	}
	session.running = rc == 0;
	return rc;
}

int harness_start_events(const char *names, uint64_t interval, uint32_t queue, const char *fail,
			 struct error *err)
{
	struct given *g = give(queue, fail);
	int rc;

	memset(&session, 0, sizeof(session));
	session.notes.fd = -1;
	session.interval = interval;
	rc = resolve(names, interval, g, err);
	if (rc == 0)
		rc = start(g, err);
	take_away(g);
	if (rc == 0)
		engine_threads_known();
	return rc;
}

const char *harness_notes(void)
{
	buffer_putc(&session.notes, '\0');
	return session.notes.data ? session.notes.data : "";
}

struct collector *harness_collector(void)
{
	return session.collector;
}

uint64_t harness_lost_weight(const struct profile *p)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < LOSS_REASONS; i++)
		sum += p->lost_weight[i];
	return sum;
}

uint64_t harness_cpu(void)
{
	return session.cpu;
}

struct profile *harness_stop(void)
{
	struct profile *p = harness_try_stop();

	assert_non_null(p);
	return p;
}

struct profile *harness_try_stop(void)
{
	struct collector_counts facts = {.event = "test", .engine = session.engine, .main_class = "",
					.jdk = "", .interval = session.interval};

	session.running = false;
	assert_true(engine_stop());
	facts.cpu_time = os_process_cpu() - session.cpu;
	facts.own_cpu = records_own_cpu() - session.own;
	session.cpu = facts.cpu_time - facts.own_cpu;
	snprintf(session.engine, sizeof(session.engine), "%s", engine_active(0));
	collector_stop(session.collector);
	session.profile = collector_view(session.collector, 0, &facts);
	collector_release(session.collector);
	faults_remove();
	return session.profile;
}

void harness_end(void)
{
	collector_view_free(session.profile);
	collector_free(session.collector);
	buffer_free(&session.notes);
}

void harness_abort(void)
{
	if (!session.running)
		return;
	harness_stop();
	harness_end();
}

void *harness_library(const char *name)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 100);
	void *library;

	assert_true(n > 0);
	path[n] = '\0';
	strcpy(strrchr(path, '/') + 1, name);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		print_message("cannot load %s: %s\n", path, dlerror());
	return library;
}

static unsigned timers(void)
{
	FILE *f = fopen("/proc/self/timers", "r");
	char line[256];
	unsigned n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strncmp(line, "ID:", 3) == 0;
	if (f)
		fclose(f);
	return n;
}

void holdings_take(struct holdings *h)
{
	int i;

	memset(h, 0, sizeof(*h));
	h->descriptors = entries("/proc/self/fd");
	h->threads = entries("/proc/self/task");
	h->timers = timers();
	for (i = 1; i <= 64; i++) {
		struct sigaction action;

		if (sigaction(i, NULL, &action))
			continue;
		snprintf(h->actions[i], sizeof(h->actions[i]), "%p flags %x mask %lx",
			 (void *)action.sa_sigaction, (unsigned)action.sa_flags & ~LIBC_FLAG,
			 *(const unsigned long *)&action.sa_mask);
	}
}

void holdings_compare(const struct holdings *before)
{
	struct holdings *now = malloc(sizeof(*now));
	int i;

	holdings_take(now);
	/* A joined thread may still stand in /proc for a moment. */
	for (i = 0; i < 100 && now->threads != before->threads; i++) {
		os_sleep(10 * NS_PER_MS);
		holdings_take(now);
	}
	assert_int_equal(now->descriptors, before->descriptors);
	assert_int_equal(now->threads, before->threads);
	assert_int_equal(now->timers, before->timers);
	for (i = 1; i <= 64; i++)
		if (strcmp(now->actions[i], before->actions[i]) != 0)
			fail_msg("signal %d: %s, was %s", i, now->actions[i], before->actions[i]);
	free(now);
}

__attribute__((noinline)) void harness_burn(uint64_t ns)
{
	uint64_t end = os_thread_cpu(os_gettid()) + ns;
	volatile uint64_t x = 1;
	int i;

	while (os_thread_cpu(os_gettid()) < end)
		for (i = 0; i < 20000; i++)
			x = x * 3 + 1;
}
