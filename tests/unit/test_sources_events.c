/*
 * What the kernel is asked for an event's name - also of events that this machine does not have -
 * and several events at once on this very process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/sources/engine.h"
#include "agent/threads/records.h"
#include "common/base/buffer.h"
#include "common/os/os.h"
#include "harness.h"

#define PAGES 3000
#define CALLS 500
#define ROOM 4096 /* entries of a queue: all of them, should the collector get no CPU meanwhile */

static volatile long variable;

__attribute__((noinline, visibility("default"))) void events_target(void);
void events_target(void)
{
	__asm__ volatile("" ::: "memory");
}

static struct perf_event_attr attr_of(const char *name, bool kernel)
{
	struct engine_event event;
	struct perf_event_attr attr;
	struct error err;

	if (event_resolve(name, 0, &event, &err))
		fail_msg("%s: %s", name, err.text);
	assert_ptr_equal(event.ops, &engine_perf);
	event.perf.period = event.interval;
	event.perf.kernel = kernel;
	event.perf.path = event.path[0] ? event.path : NULL;
	os_perf_attr(&event.perf, &attr);
	assert_int_equal(attr.sample_type, PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER);
	assert_int_equal(attr.exclude_kernel, !kernel);
	assert_int_equal(attr.exclude_callchain_user, 1);
	assert_int_equal(attr.disabled, 1);
	assert_int_equal(attr.inherit, 0);
	return attr;
}

static void attributes(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config, period;
		bool scaled;
	} rows[] = {
		{"cpu", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 10000000, false},
		{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 10000000, false},
		{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, false},
		{"page-faults@5k", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 5000, false},
		{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 2, false},
		{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000, true},
		{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 1000, true},
		{"LLC-load-misses", PERF_TYPE_HW_CACHE,
		 PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_READ << 8 |
			 PERF_COUNT_HW_CACHE_RESULT_MISS << 16, 1000, true},
		{"r1a8@7", PERF_TYPE_RAW, 0x1a8, 7, true},
		{"trace:316", PERF_TYPE_TRACEPOINT, 316, 1, false},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct perf_event_attr attr = attr_of(rows[i].name, i % 2);

		assert_int_equal(attr.type, rows[i].type);
		assert_int_equal(attr.config, rows[i].config);
		assert_int_equal(attr.sample_period, rows[i].period);
		assert_int_equal(attr.read_format, rows[i].scaled ? PERF_FORMAT_TOTAL_TIME_ENABLED |
									PERF_FORMAT_TOTAL_TIME_RUNNING : 0);
	}
}

static void breakpoints(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t address, length;
	} rows[] = {
		{"mem:0x1000", HW_BREAKPOINT_RW, 0x1000, 1},
		{"mem:0x1000+0x20/4:w", HW_BREAKPOINT_W, 0x1020, 4},
		{"mem:0x1000/8:r", HW_BREAKPOINT_RW, 0x1000, 8},
		{"mem:0x1000:rw", HW_BREAKPOINT_RW, 0x1000, 1},
		{"mem:0x1000:x", HW_BREAKPOINT_X, 0x1000, 8},
	};
	struct perf_event_attr attr;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		attr = attr_of(rows[i].name, false);
		assert_int_equal(attr.type, PERF_TYPE_BREAKPOINT);
		assert_int_equal(attr.bp_type, rows[i].type);
		assert_int_equal(attr.bp_addr, rows[i].address);
		assert_int_equal(attr.bp_len, rows[i].length);
	}
	attr = attr_of("events_target", false);
	assert_int_equal(attr.bp_addr, (uintptr_t)events_target);
	assert_int_equal(attr.bp_type, HW_BREAKPOINT_X);
	attr = attr_of("mem:events_target+4:x", false);
	assert_int_equal(attr.bp_addr, (uintptr_t)events_target + 4);
}

static void wrong_names(void **state)
{
	static const struct {
		const char *name;
		const char *says;
	} rows[] = {
		{"mem:0x1000/3", "1, 2, 4 or 8"}, {"mem:0x1000:q", "rw or x"}, {"mem:0x1000:rx", "rw or x"},
		{"mem:", "write it like"}, {"mem:0xzz", "no address"}, {"trace:0", "tracepoint"},
		{"no_such_function_anywhere", "no event has this name"}, {"No::such", "no event has this name"},
		{"nosource/x=1/", "no event source"}, {"software/", "write it like"},
		{"cpu@10us", "out of range"}, {"breakpoint/nofield=1/", "no event or field"},
		{"cpu@0", "no event has this name"}, {"locks@0", "no event has this name"},
		{"a:b:", "filter is empty"},
	};
	struct engine_event event;
	struct error err;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(event_resolve(rows[i].name, 0, &event, &err) < 0);
		if (!strstr(err.text, rows[i].says))
			fail_msg("%s: %s", rows[i].name, err.text);
	}
}

/* Every wait, however short: as --lock 0. */
static void all_waits(void **state)
{
	static const char *const names[] = {"lock@0", "lock@0ns", "lock@0ms"};
	struct engine_event event;
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(names); i++) {
		assert_int_equal(event_resolve(names[i], 0, &event, &err), 0);
		assert_true(event.weight == WEIGHT_WAIT && event.interval == 0);
		assert_string_equal(event.name, "lock");
	}
	assert_int_equal(event_resolve("lock@20us", 0, &event, &err), 0);
	assert_int_equal(event.interval, 20 * NS_PER_US);
}

/* ---- at work ---- */

static uint64_t faults_of_thread(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_minflt;
}

static uint64_t touch(void)
{
	uint64_t before = faults_of_thread();
	size_t size = PAGES * 4096ul, i;
	volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((char *)memory, size, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		memory[i * 4096] = 1;
	munmap((char *)memory, size);
	return faults_of_thread() - before;
}

static struct profile *view(uint32_t e, const char *name)
{
	struct collector_counts facts = {.event = name, .engine = "perf", .main_class = "", .jdk = "",
					.weight_kind = e ? WEIGHT_COUNT : WEIGHT_CPU};
	struct engine_counts counts;
	struct profile *p;

	engine_count(e, &counts);
	facts.counted = e ? counts.counted : 0;
	p = collector_view(harness_collector(), e, &facts);
	assert_non_null(p);
	return p;
}

static void several(void **state)
{
	struct profile *faults, *calls;
	struct holdings before;
	struct error err;
	uint64_t truth;
	int i;

	if (!os_perf_kernel_allowed()) {
		print_message("skipped: perf events are not permitted here\n");
		skip();
	}
	harness_burn(NS_PER_MS); /* what libc does once is done */
	holdings_take(&before);
	if (harness_start_events("cpu,page-faults@1,events_target@2", NS_PER_MS, ROOM, "", &err))
		fail_msg("%s", err.text);
	truth = touch();
	for (i = 0; i < CALLS; i++) {
		events_target();
		variable++;
	}
	harness_stop();
	faults = view(1, "page-faults");
	calls = view(2, "events_target");
	/* those inside the handler are not the program's */
	assert_true(faults->counted >= PAGES && faults->counted <= truth + 100 && truth >= PAGES);
	assert_int_equal(faults->weight_stored + harness_lost_weight(faults) + faults->unsampled, faults->counted);
	/* the kernel may throttle what comes in a burst: that is unsampled then */
	assert_true(faults->stored > 0 && faults->weight_stored + faults->unsampled >= PAGES);
	assert_int_equal(calls->counted, CALLS);
	assert_int_equal(calls->weight_stored + harness_lost_weight(calls) + calls->unsampled, CALLS);
	assert_true(calls->stored > 0 && calls->stored <= CALLS / 2);
	/*
	 * This thread stops the session itself: what is due to it then is lost. It began it, too: the fault that the
	 * third event's ring began with was taken after that.
	 */
	assert_true(faults->lost[LOSS_signal_late] <= 1);
	assert_int_equal(faults->taken,
			 faults->stored + faults->lost[LOSS_disabled] + faults->lost[LOSS_signal_late]);
#ifndef __SANITIZE_ADDRESS__ /* its shadow memory faults in the handler, too */
	assert_true(faults->lost[LOSS_disabled] <= HARNESS_AT_THE_END);
#endif
	collector_view_free(faults);
	collector_view_free(calls);
	harness_end();
	holdings_compare(&before);
}

/* ---- threads that block SIGTRAP ---- */

static atomic_bool blocked, met, enough;

static void *blocks_signals(void *arg)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_store(&blocked, true);
	while (!atomic_load(&met))
		usleep(1000);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (!atomic_load(&enough))
		usleep(1000);
	return arg;
}

static uint32_t refused(void)
{
	struct engine_counts c;

	records_scan(); /* as each second */
	engine_count(0, &c);
	return c.refused;
}

/* They get no breakpoint while they do, which is said with the next look; and get it afterwards. */
static void where_traps_are_blocked(void **state)
{
	struct buffer notes = {.fd = -1};
	struct error err;
	pthread_t thread;
	int i;

	pthread_create(&thread, NULL, blocks_signals, NULL);
	while (!atomic_load(&blocked))
		usleep(1000);
	if (harness_start_events("events_target@2", 2, ROOM, "", &err)) {
		print_message("skipped: %s\n", err.text);
		atomic_store(&met, true);
		atomic_store(&enough, true);
		pthread_join(thread, NULL);
		skip();
	}
	assert_null(strstr(harness_notes(), "SIGTRAP"));
	/* a thread that has just begun blocks its signals, too */
	for (i = 0; i < 1000 && (refused() != 1 || i < 2); i++)
		usleep(10000);
	assert_int_equal(refused(), 1);
	engine_notes(&notes);
	buffer_putc(&notes, '\0');
	assert_non_null(strstr(notes.data, "some threads get no breakpoint (they block SIGTRAP"));
	atomic_store(&met, true);
	for (i = 0; i < 1000 && refused(); i++)
		usleep(10000);
	assert_int_equal(refused(), 0);
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
	buffer_free(&notes);
	harness_stop();
	harness_end();
}

static void not_together(void **state)
{
	static const struct {
		const char *events, *says;
	} rows[] = {
		{"cpu,itimer", "CPU time"}, {"cpu,ctimer", "CPU time"}, {"page-faults,cpu,page-faults", "twice"},
	};
	struct holdings before;
	struct error err;
	size_t i;

	holdings_take(&before);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(harness_start_events(rows[i].events, 0, 20, "", &err) < 0);
		assert_non_null(strstr(err.text, rows[i].says));
	}
	assert_true(harness_start_events("page-faults", 0, 20, "perf", &err) < 0);
	assert_non_null(strstr(err.text, "perf_event_paranoid"));
	holdings_compare(&before);
}

static void listed(void **state)
{
	static const char *const names[] = {"cpu ", "page-faults ", "cycles ", "SUBSYSTEM:EVENT", "kprobe:",
					    "uprobe:", "mem:", "rNNN"};
	struct buffer out = BUFFER_INIT;
	size_t i;

	event_list(&out);
	buffer_putc(&out, '\0');
	for (i = 0; i < ARRAY_LEN(names); i++)
		assert_non_null(strstr(out.data, names[i]));
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes), cmocka_unit_test(breakpoints), cmocka_unit_test(wrong_names),
		cmocka_unit_test(all_waits),
		cmocka_unit_test(several),    cmocka_unit_test(not_together), cmocka_unit_test(listed),
		cmocka_unit_test(where_traps_are_blocked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
