/*
 * From samples to a profile, with methods in plain memory: what is one stack, what becomes of a
 * name when its Method* is another method's, threads, sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/context/context_table.h"
#include "agent/hooks/faults.h"
#include "agent/sample/handler.h"
#include "agent/sinks/ring/ring.h"
#include "agent/sources/class_names.h"
#include "agent/sources/lock/lock_waits.h"
#include "agent/threads/records.h"
#include "collected.h"

static struct profile *view;
static uint64_t now; /* of the samples to come */
static uint8_t event;

static int set_up(void **state)
{
	struct collector_options o = {.lines = *state && strcmp(*state, "lines") == 0,
				      .per_thread = *state && strcmp(*state, "threads") == 0,
				      .per_trace_context = *state && strcmp(*state, "requests") == 0,
				      .java_only = *state && strcmp(*state, "java only") == 0,
				      .sched = *state && strcmp(*state, "places") == 0,
				      .record_cpu = *state && strcmp(*state, "places") == 0,
				      .events = *state && strcmp(*state, "two events") == 0 ? 2 : 1,
				      .waits = {*state && strcmp(*state, "waits") == 0},
				      .ticks = {*state && strcmp(*state, "clock") == 0},
				      .fields = {*state && strcmp(*state, "fields") == 0 ? event_fields_of("exceptions") :
						 (struct event_fields){NULL, 0}},
				      .depth_kept = *state && strcmp(*state, "two kept") == 0 ? 2 : 0};

	if (collected_open(&o))
		return -1;
	if (*state && strcmp(*state, "no counts") == 0)
		atomic_store(&zone.epochs.unloaded[0], NULL);
	now = os_monotonic();
	event = 0;
	return 0;
}

static int tear_down(void **state)
{
	collector_view_free(view);
	view = NULL;
	return collected_close();
}

static uint32_t payload; /* of the samples made */
static uint8_t thread_state;

/* A stored sample with FRAMES (N of them, leaf first) on R. */
static void sample_on(struct thread_record *r, uint64_t weight, uint64_t vthread, const uint64_t *frames,
		      uint32_t n)
{
	struct sample s = {.time = now, .weight = weight, .vthread = vthread, .handler_ns = 1000,
			   .thread = r->index, .epoch = (uint16_t)method_epoch_now(&zone.epochs),
			   .payload = payload, .event = event, .state = thread_state};
	struct stack_trace_writer w;
	uint32_t i;

	assert_true(stack_trace_begin(&w, &zone.store, &chunk, 2048));
	for (i = 0; i < n; i++)
		assert_true(stack_trace_put(&w, frames[i]));
	s.trace = stack_trace_end(&w);
	record_take(r, event);
	assert_true(queue_push(atomic_load(&r->current), &s));
}

#define SAMPLE(weight, ...)                                                        \
	do {                                                                       \
		const uint64_t frames_[] = {__VA_ARGS__};                          \
		sample_on(record, weight, 0, frames_, ARRAY_LEN(frames_));         \
	} while (0)

static void drain(void)
{
	pthread_mutex_lock(&c->lock);
	drain_all(c);
	pthread_mutex_unlock(&c->lock);
}

static const struct profile *make_view(void)
{
	struct collector_counts facts = {.event = "cpu", .engine = "perf", .interval = 1000, .cpu_time = 1000000};
	struct error err;

	assert_int_equal(faults_install(&err), 0);
	drain();
	faults_remove();
	collector_view_free(view);
	view = collector_view(c, event, &facts);
	assert_non_null(view);
	return view;
}

#define I(m, bci) frame_java(FRAME_INTERPRETED, m, bci)
#define C2(m, bci) frame_java(FRAME_C2, m, bci)

/* "pkg/A.alpha;…", root first, with kinds as digits. */
static const char *text_of(const struct profile *p, const struct profile_stack *s)
{
	static char text[4096];
	uint32_t i;
	int n = 0;

	text[0] = '\0';
	for (i = 0; i < s->depth; i++) {
		const struct profile_frame *f = &p->frames[s->frames[i]];

		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%s%s%s/%d", i ? ";" : "",
			      f->class_name ? f->class_name : "", f->class_name ? "." : "", f->name, f->kind);
		if (f->line)
			n += snprintf(text + n, sizeof(text) - (size_t)n, ":%d", f->line);
		if (f->lock)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "@%llx",
				      (unsigned long long)p->locks[f->lock - 1].identity);
	}
	return text;
}

static const struct profile_stack *stack(const struct profile *p, const char *text)
{
	uint32_t i;

	for (i = 0; i < p->stack_count; i++)
		if (strcmp(text_of(p, &p->stacks[i]), text) == 0)
			return &p->stacks[i];
	for (i = 0; i < p->stack_count; i++)
		print_message("there is %s\n", text_of(p, &p->stacks[i]));
	fail_msg("no stack %s", text);
	return NULL;
}

static void has(const struct profile *p, const char *text, uint64_t samples, uint64_t weight)
{
	const struct profile_stack *s = stack(p, text);

	if (s->samples != samples || s->weight != weight)
		fail_msg("%s: %llu samples, weight %llu", text, (unsigned long long)s->samples,
			 (unsigned long long)s->weight);
}

/* Other positions in a method, other pcs in a function, are the same frame. */
static void merged(void **state)
{
	const struct profile *p;
	uintptr_t here = (uintptr_t)make_view;

	SAMPLE(10, I(a, 1), I(b, 7));
	SAMPLE(20, I(a, 2), I(b, 7));
	SAMPLE(40, I(a, 1), I(b, FRAME_NO_BCI));
	SAMPLE(80, C2(a, 1), I(b, 7)); /* compiled: another kind */
	SAMPLE(160, I(a, 1));
	SAMPLE(1, frame_pc(FRAME_NATIVE, here + 4), I(a, 1));
	SAMPLE(2, frame_pc(FRAME_NATIVE, here + 9), I(a, 3));
	p = make_view();
	assert_int_equal(p->stack_count, 4);
	has(p, "pkg/B.beta/0;pkg/A.alpha/0", 3, 70);
	has(p, "pkg/B.beta/0;pkg/A.alpha/2", 1, 80);
	has(p, "pkg/A.alpha/0", 1, 160);
	has(p, "pkg/A.alpha/0;make_view/5", 2, 3);
	assert_int_equal(p->stored, 7);
	assert_int_equal(p->taken, 7);
	assert_int_equal(p->weight_stored, 313);
	assert_int_equal(p->complete, 7);
	assert_int_equal(p->unsampled, 1000000 - 313);
	/* Later views go on from there. */
	SAMPLE(1000, I(a, 9), I(b, 8));
	p = make_view();
	has(p, "pkg/B.beta/0;pkg/A.alpha/0", 4, 1070);
	assert_int_equal(p->stack_count, 4);
}

static void recursion(void **state)
{
	SAMPLE(1, I(a, 1), I(a, 2), I(b, 1), I(a, 3));
	SAMPLE(2, I(a, 5), I(a, 5), I(b, 1), I(a, 5));
	SAMPLE(4, I(a, 1), I(a, 1), I(a, 1), I(b, 1), I(a, 3));
	has(make_view(), "pkg/A.alpha/0;pkg/B.beta/0;pkg/A.alpha/0;pkg/A.alpha/0", 2, 3);
	has(view, "pkg/A.alpha/0;pkg/B.beta/0;pkg/A.alpha/0;pkg/A.alpha/0;pkg/A.alpha/0", 1, 4);
}

static void early_ends(void **state)
{
	const struct profile *p;

	SAMPLE(1, I(a, 1), frame_other(OTHER_END, END_fault));
	SAMPLE(2, I(a, 1), frame_other(OTHER_END, END_truncated));
	SAMPLE(4, I(a, 1), frame_other(OTHER_END, END_truncated));
	SAMPLE(8, I(a, 1), frame_other(OTHER_VIRTUAL, 0));
	SAMPLE(16, frame_other(OTHER_END, END_unknown_nmethod));
	p = make_view();
	has(p, "[break_fault]/7;pkg/A.alpha/0", 1, 1);
	has(p, "[truncated]/7;pkg/A.alpha/0", 2, 6);
	assert_int_equal(p->ended_early[END_fault], 1);
	assert_int_equal(p->ended_early[END_truncated], 2);
	assert_int_equal(p->ended_early[END_unknown_nmethod], 1);
	assert_int_equal(p->complete, 1);
}

/* cstack=no: what is neither Java nor a marker goes; nothing left is marked. */
static void java_only(void **state)
{
	uint64_t native = frame_pc(FRAME_NATIVE, (uintptr_t)make_view + 4);

	SAMPLE(1, frame_pc(FRAME_KERNEL, 0x1000), native, I(a, 1), native, I(b, 1), native);
	SAMPLE(2, I(a, 1), I(b, 1));
	SAMPLE(4, native, native);
	SAMPLE(8, native, frame_other(OTHER_END, END_fault));
	make_view();
	has(view, "pkg/B.beta/0;pkg/A.alpha/0", 2, 3);
	has(view, "[no_Java_frame]/7", 1, 4);
	has(view, "[break_fault]/7", 1, 8);
	assert_int_equal(view->stack_count, 3);
}

/* sched and record-cpu: the same stack at another place is another one. The tests may run under another policy. */
static void places(void **state)
{
	const uint64_t frames[] = {I(a, 1), I(b, 1)};
	uint32_t cpus[] = {0, 3, 0, 3, 3}, i;
	int policy = sched_getscheduler(0);
	char stack[128];

	for (i = 0; i < ARRAY_LEN(cpus); i++) {
		payload = cpus[i];
		sample_on(record, 1u << i, 0, frames, ARRAY_LEN(frames));
	}
	payload = 0;
	make_view();
	assert_int_equal(view->outer, 2);
	assert_int_equal(view->stack_count, 2);
	assert_true(policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE);
	for (i = 0; i < 2; i++) {
		snprintf(stack, sizeof(stack), "[CPU-%d]/7;[SCHED_%s]/7;pkg/B.beta/0;pkg/A.alpha/0", i ? 3 : 0,
			 policy == SCHED_OTHER ? "OTHER" : policy == SCHED_BATCH ? "BATCH" : "IDLE");
		has(view, stack, i ? 3 : 2, i ? 2 + 8 + 16 : 1 + 4);
	}
}

/* jstackdepth=N/2: of stacks that were cut only two frames stay. */
static void cut_stacks(void **state)
{
	SAMPLE(1, I(a, 1), I(b, 1), I(b, 1), I(b, 1), frame_other(OTHER_END, END_truncated));
	SAMPLE(2, I(a, 1), I(b, 1), I(a, 1), frame_other(OTHER_END, END_truncated));
	SAMPLE(4, I(a, 1), I(b, 1), I(b, 1));
	SAMPLE(8, I(a, 1), I(b, 1), I(b, 1), frame_other(OTHER_END, END_fault));
	make_view();
	has(view, "[truncated]/7;pkg/B.beta/0;pkg/A.alpha/0", 2, 3);
	has(view, "pkg/B.beta/0;pkg/B.beta/0;pkg/A.alpha/0", 1, 4);
	has(view, "[break_fault]/7;pkg/B.beta/0;pkg/B.beta/0;pkg/A.alpha/0", 1, 8);
	assert_int_equal(view->ended_early[END_truncated], 2);
}

/* ---- a method's address is not the method ---- */

/* Sampled before and after the change: each has the name it had. */
static void replaced_method(void **state)
{
	SAMPLE(1, I(a, 1), I(b, 1));
	drain();
	SAMPLE(2, I(a, 1), I(b, 1)); /* not looked at before the change, but known from before */
	fake_replace(&jvm, a, "pkg/Other", "young");
	unloaded++;
	drain();
	SAMPLE(4, I(a, 1), I(b, 1));
	SAMPLE(8, I(a, 2), I(b, 1));
	drain();
	make_view();
	assert_int_equal(view->stack_count, 2);
	has(view, "pkg/B.beta/0;pkg/A.alpha/0", 2, 3);
	has(view, "pkg/B.beta/0;pkg/Other.young/0", 2, 12);
	/* And again, by a method of the first name. */
	fake_replace(&jvm, a, "pkg/A", "alpha");
	unloaded++;
	drain(); /* nothing was sampled */
	SAMPLE(16, I(a, 1), I(b, 1));
	drain();
	SAMPLE(32, I(a, 1), I(b, 1));
	make_view();
	has(view, "pkg/B.beta/0;pkg/A.alpha/0", 4, 51);
}

/* Two changes between two drains: whose the address was in between cannot be said. */
static void replaced_twice(void **state)
{
	SAMPLE(1, I(a, 1));
	drain();
	fake_replace(&jvm, a, "pkg/Other", "young");
	unloaded++;
	SAMPLE(2, I(a, 1));
	fake_replace(&jvm, a, "pkg/A", "alpha");
	unloaded++;
	SAMPLE(4, I(a, 1));
	make_view();
	has(view, "pkg/A.alpha/0", 2, 5);
	has(view, "[unloaded]/7", 1, 2);
}

/* First seen when its class is gone already: the memory looks whole, and belongs to no class. */
static void dead_memory(void **state)
{
	SAMPLE(1, I(a, 1));
	unloaded++;
	drain();
	make_view();
	has(view, "[unloaded]/7", 1, 1);
	/* Another class stands there before anything else is unloaded. */
	fake_replace(&jvm, a, "pkg/Other", "young");
	SAMPLE(2, I(a, 1));
	make_view();
	has(view, "pkg/Other.young/0", 1, 2);
	/* More classes go than a sample's era can tell: it is not guessed. */
	SAMPLE(4, I(a, 1));
	unloaded += 65536;
	make_view();
	has(view, "[unloaded]/7", 2, 5);
}

/* Begins, or ends. */
static void redefinition(void)
{
	atomic_store(&zone.epochs.replacing, true);
	atomic_fetch_add(&zone.epochs.redefinitions, 1);
}

/* A class that the JVM redefined gives its methods' places away while others load; all else stays. */
static void redefined_class(void **state)
{
	SAMPLE(1, I(a, 1));
	SAMPLE(1, I(b, 1));
	drain();
	collector_redefined(c, "pkg/A");
	redefinition();
	SAMPLE(2, I(a, 1));
	SAMPLE(2, I(b, 1));
	redefinition();
	fake_replace(&jvm, a, "pkg/Other", "young");
	loaded++;
	SAMPLE(4, I(a, 1));
	SAMPLE(4, I(b, 1));
	make_view();
	has(view, "pkg/A.alpha/0", 1, 1);
	has(view, "[unloaded]/7", 1, 2);
	has(view, "pkg/Other.young/0", 1, 4);
	has(view, "pkg/B.beta/0", 3, 7);
}

/* A replaced method's place is taken by one of a class that is still being parsed: not counted as loaded yet. */
static void method_in_the_making(void **state)
{
	uint64_t entry = *fake_at(a + 16);

	redefinition();
	SAMPLE(1, I(a, 1)); /* the last of the old method */
	fake_replace(&jvm, a, "pkg/Other", "young");
	*fake_at(a + 16) = 0;
	drain();
	loaded++;
	*fake_at(a + 16) = entry;
	SAMPLE(2, I(a, 1));
	make_view();
	has(view, "[unloaded]/7", 1, 1);
	has(view, "pkg/Other.young/0", 1, 2);
}

static uint64_t safepoints[EPOCH_SAFEPOINTS];

/* The JVM tells of its safepoints. */
static void with_safepoints(void)
{
	int i;

	memset(safepoints, 0, sizeof(safepoints));
	for (i = EPOCH_SAFEPOINTS - 1; i >= 0; i--)
		atomic_store(&zone.epochs.safepoints[i], &safepoints[i]);
	atomic_store(&zone.epochs.replacing, true);
	drain();
}

/*
 * While classes are loaded names are proved: what was replaced is freed at safepoints alone. If one comes between each
 * sample and its name, the same name before and after it proves it.
 */
static void freed_at_safepoints(void **state)
{
	int i;

	with_safepoints();
	redefinition();
	redefinition();
	drain();
	SAMPLE(1, I(a, 1));
	loaded++;
	drain();
	for (i = 0; i < EPOCH_SAFEPOINTS; i++) {
		SAMPLE(2, I(b, 1)); /* never seen before */
		safepoints[i] += 100;
		loaded++;
		drain();
	}
	SAMPLE(4, I(b, 1));
	make_view();
	has(view, "pkg/A.alpha/0", 1, 1);
	has(view, "[unloaded]/7", 2, 4);
	has(view, "pkg/B.beta/0", 2, 6);
}

/* Safepoints, and no class was loaded: what they freed cannot be in use again. */
static void safepoints_alone(void **state)
{
	int i;

	with_safepoints();
	redefinition();
	redefinition();
	for (i = 0; i < 4; i++) {
		SAMPLE(1, I(i % 2 ? a : b, 1));
		safepoints[i % EPOCH_SAFEPOINTS] += 100;
		drain();
	}
	make_view();
	has(view, "pkg/A.alpha/0", 2, 2);
	has(view, "pkg/B.beta/0", 2, 2);
}

/* A class was redefined before we came, and a replaced method runs on until it is freed and another stands there. */
static void replaced_before_us(void **state)
{
	with_safepoints();
	atomic_store(&zone.epochs.replacing, true);
	SAMPLE(1, I(a, 1));
	SAMPLE(1, I(b, 1));
	drain();
	SAMPLE(2, I(a, 1)); /* the last of it */
	safepoints[1] += 100;
	drain();
	fake_replace(&jvm, a, "pkg/Other", "young");
	loaded++;
	SAMPLE(4, I(a, 1));
	SAMPLE(4, I(b, 1));
	safepoints[0]++;
	drain();
	SAMPLE(8, I(a, 1));
	make_view();
	has(view, "pkg/A.alpha/0", 2, 3);
	has(view, "pkg/Other.young/0", 2, 12);
	has(view, "pkg/B.beta/0", 2, 5);
}

/* Without the JVM's counts: a name holds if it was there before a sample and is there after it. */
static void without_counts(void **state)
{
	SAMPLE(1, I(a, 1), I(b, 1));
	drain();
	SAMPLE(2, I(a, 1), I(b, 1));
	drain();
	fake_replace(&jvm, a, "pkg/Other", "young");
	SAMPLE(4, I(a, 1), I(b, 1));
	drain();
	SAMPLE(8, I(a, 1), I(b, 1));
	make_view();
	assert_int_equal(view->stack_count, 4);
	has(view, "[unloaded]/7;[unloaded]/7", 1, 1);
	has(view, "pkg/B.beta/0;pkg/A.alpha/0", 1, 2);
	has(view, "pkg/B.beta/0;[unloaded]/7", 1, 4);
	has(view, "pkg/B.beta/0;pkg/Other.young/0", 1, 8);
}

/* Memory that is no method (any more) has no name; once it is one again it has. */
static void gone_method(void **state)
{
	uint64_t chain = *fake_at(a + 8);
	struct error err;

	assert_int_equal(faults_install(&err), 0);
	SAMPLE(1, I(a, 1));
	drain();
	*fake_at(a + 8) = 0x10;
	unloaded++;
	SAMPLE(2, I(a, 1));
	drain();
	SAMPLE(4, I(a, 1));
	drain();
	*fake_at(a + 8) = chain;
	unloaded++;
	SAMPLE(16, I(a, 1));
	SAMPLE(64, I(0x1230, 1), I(b, 1)); /* never was one */
	drain();
	SAMPLE(32, I(a, 2));
	faults_remove();
	make_view();
	has(view, "pkg/A.alpha/0", 3, 1 + 16 + 32);
	has(view, "[unloaded]/7", 2, 2 + 4);
	has(view, "pkg/B.beta/0;[unloaded]/7", 1, 64);
}

/* The new method's names cannot be read at first: it must not appear under the old one's. */
static void names_come_late(void **state)
{
	uint64_t pool, name;
	struct error err;

	assert_int_equal(faults_install(&err), 0);
	SAMPLE(1, I(a, 1));
	drain();
	fake_replace(&jvm, a, "pkg/Other", "young");
	unloaded++;
	pool = *fake_at(*fake_at(a + 8) + 8);
	name = *fake_at(pool + 64 + 3 * 8);
	*fake_at(pool + 64 + 3 * 8) = 0x18;
	SAMPLE(2, I(a, 1));
	drain();
	SAMPLE(4, I(a, 1));
	drain();
	*fake_at(pool + 64 + 3 * 8) = name;
	unloaded++;
	SAMPLE(32, I(a, 1));
	drain();
	faults_remove();
	make_view();
	has(view, "pkg/A.alpha/0", 1, 1);
	has(view, "[unloaded]/7", 2, 2 + 4);
	has(view, "pkg/Other.young/0", 1, 32);
}

/* Where a function was looked up once, other addresses in it have its name at once. */
static void known_functions(void **state)
{
	uintptr_t here = (uintptr_t)make_view;

	SAMPLE(1, frame_pc(FRAME_NATIVE, here + 4));
	make_view();
	SAMPLE(2, frame_pc(FRAME_NATIVE, here + 9));
	SAMPLE(4, frame_pc(FRAME_NATIVE, here));
	drain();
	assert_int_equal(c->frames.late.count, 0);
	SAMPLE(8, frame_pc(FRAME_NATIVE, (uintptr_t)has + 4));
	drain();
	assert_int_equal(c->frames.late.count, 1);
	make_view();
	has(view, "make_view/5", 3, 7);
	has(view, "has/5", 1, 8);
}

/* A library goes away: what was sampled in it keeps its name, what comes to its place does not get it. */
static void unmapped_library(void **state)
{
	static struct image_set none;
	const struct image_set *real = atomic_load(&zone.images);
	uintptr_t here = (uintptr_t)make_view;

	SAMPLE(1, frame_pc(FRAME_NATIVE, here + 4));
	make_view();
	has(view, "make_view/5", 1, 1);
	none.adds = real->adds;
	none.subs = real->subs;
	atomic_store(&zone.images, &none);
	SAMPLE(2, frame_pc(FRAME_NATIVE, here + 4));
	make_view();
	has(view, "make_view/5", 1, 1);
	has(view, "[unknown]/7", 1, 2);
	/* Libraries have come or gone since the images were read: it may have been one of those. */
	none.adds--;
	SAMPLE(8, frame_pc(FRAME_NATIVE, here + 8));
	make_view();
	has(view, "[unread_library]/7", 1, 8);
	atomic_store(&zone.images, real);
	SAMPLE(4, frame_pc(FRAME_NATIVE, here + 4));
	make_view();
	has(view, "make_view/5", 2, 5);
}

/* ---- threads ---- */

static void threads(void **state)
{
	const uint64_t stack_a[] = {I(a, 1)};
	struct thread_record *other;
	const struct profile *p;
	uint32_t i;

	other = records_found(90000001, 0);
	sample_on(record, 1, 0, stack_a, 1);
	sample_on(other, 2, 0, stack_a, 1);
	sample_on(other, 4, 0, stack_a, 1);
	sample_on(other, 8, 77, stack_a, 1);  /* a virtual thread mounted on it */
	sample_on(record, 16, 77, stack_a, 1); /* and then on another */
	drain();
	collector_name_thread(c, 90000001, 7, "worker with a long name \xe2\x82\xac");
	collector_name_thread(c, 90000002, 8, "comes later");
	sample_on(records_found(90000002, 0), 32, 0, stack_a, 1);
	p = make_view();
	assert_true(p->per_thread);
	assert_int_equal(p->thread_count, 4);
	assert_int_equal(p->stack_count, 4);
	for (i = 0; i < p->stack_count; i++) {
		const struct profile_thread *t = &p->threads[p->stacks[i].thread];

		assert_int_equal(t->samples, p->stacks[i].samples);
		assert_int_equal(t->weight, p->stacks[i].weight);
		if (t->tid == 90000001) {
			assert_string_equal(t->name, "worker with a long name \xe2\x82\xac");
			assert_int_equal(t->weight, 6);
		} else if (t->tid == 90000002) {
			assert_string_equal(t->name, "comes later");
			assert_int_equal(t->weight, 32);
		} else if (t->tid == (uint32_t)os_gettid()) {
			assert_string_equal(t->name, "test_collect_ag"); /* as the kernel cuts it */
			assert_int_equal(t->weight, 1);
		} else {
			assert_string_equal(t->name, "virtual thread #77");
			assert_int_equal(t->weight, 24);
		}
	}
}

/* Stop and resume: new records, the same thread; but a tid that no thread has any more is no such proof. */
static void resumed(void **state)
{
	const uint64_t stack_a[] = {I(a, 1)};
	const struct profile *p;
	uint32_t i, mine = 0, others = 0;

	for (i = 0; i < 3; i++) {
		sample_on(record, 1, 0, stack_a, 1);
		sample_on(records_found(90000001, 0), 2, 0, stack_a, 1);
		drain();
		records_release();
		record = records_found(os_gettid(), 0);
	}
	p = make_view();
	for (i = 0; i < p->thread_count; i++) {
		mine += p->threads[i].tid == (uint32_t)os_gettid() && p->threads[i].weight == 3;
		others += p->threads[i].tid == 90000001 && p->threads[i].weight == 2;
	}
	assert_int_equal(mine, 1);
	assert_int_equal(others, 3);
	assert_int_equal(p->thread_count, 4);
	assert_int_equal(p->stack_count, 4);
}

/* A thread that ended between stop and resume keeps its name though its tid has a new owner. */
static void name_of_the_next(void **state)
{
	const uint64_t stack_a[] = {I(a, 1)};
	const struct profile *p;

	now = 1; /* this sample was taken before the thread of today began */
	sample_on(record, 1, 0, stack_a, 1);
	drain();
	records_release();
	now = os_monotonic();
	collector_name_thread(c, os_gettid(), 9, "the next");
	record = records_found(os_gettid(), 0);
	sample_on(record, 2, 0, stack_a, 1);
	p = make_view();
	assert_int_equal(p->thread_count, 2);
	assert_string_equal(p->threads[0].name, "test_collect_ag");
	assert_int_equal(p->threads[0].weight, 1);
	assert_string_equal(p->threads[1].name, "the next");
}

/*
 * A Java thread is sampled before the JVM has told its name, which is short and so the one that the kernel knows: it is
 * one of Java's from then on, and what it is called later is not its name of before.
 */
static void name_as_the_kernel_says(void **state)
{
	const uint64_t stack_a[] = {I(a, 1)};
	const struct thread_entry *e;

	sample_on(records_found(90000001, 0), 1, 0, stack_a, 1);
	drain();
	e = &c->threads.items[c->threads.count - 1];
	assert_string_equal(strings_get(&c->frames.strings, e->name), "thread 90000001");
	collector_name_thread(c, 90000001, 0, "thread 90000001"); /* as who asks the kernel says */
	make_view();
	assert_false(e->given);
	collector_name_thread(c, 90000001, 7, "thread 90000001");
	make_view();
	assert_int_equal(e->java_id, 7);
	assert_true(e->given);
	assert_int_equal(e->former, 0);
	collector_name_thread(c, 90000001, 0, "thread 90000001");
	make_view();
	assert_int_equal(e->java_id, 7);
	collector_name_thread(c, 90000001, 7, "another");
	make_view();
	assert_string_equal(strings_get(&c->frames.strings, e->name), "another");
	assert_string_equal(strings_get(&c->frames.strings, e->former), "thread 90000001");
}

/* A thread begins, is sampled and ends within one drain; another had its tid before, whose name came as it ended. */
static void names_of_short_threads(void **state)
{
	static const char *const names[] = {"the first", "the second"};
	const uint64_t stack_a[] = {I(a, 1)};
	const struct profile *p;
	struct thread_record *r;
	int i;

	for (i = 0; i < 2; i++) {
		r = records_found(90000001, 0);
		sample_on(r, 1, 0, stack_a, 1);
		collector_name_thread(c, 90000001, 7, names[i]);
		atomic_store(&r->state, RECORD_CLOSING);
		drain();
		assert_int_equal(atomic_load(&r->state), RECORD_FREE);
	}
	sample_on(records_found(90000001, 0), 1, 0, stack_a, 1); /* one that has no name yet */
	p = make_view();
	assert_int_equal(p->thread_count, 3);
	assert_string_equal(p->threads[0].name, names[0]);
	assert_string_equal(p->threads[1].name, names[1]);
	assert_string_equal(p->threads[2].name, "thread 90000001");
}

/* Losses of threads alive and ended, and of none, are in the aggregate once. */
static void losses(void **state)
{
	struct thread_record *other = records_found(90000001, 0);
	const struct profile *p;
	int round;

	record_take(record, 0);
	record_lose(record, 0, LOSS_queue_full, 100);
	record_take(other, 0);
	record_lose(other, 0, LOSS_store_full, 30);
	record_take(other, 0);
	record_lose(other, 0, LOSS_recursion, 0);
	atomic_fetch_add(&zone.lost_count[0][LOSS_no_record], 2);
	atomic_fetch_add(&zone.lost_weight[0][LOSS_no_record], 7);
	SAMPLE(1, I(a, 1));
	for (round = 0; round < 3; round++) {
		p = make_view();
		assert_int_equal(p->taken, 6);
		assert_int_equal(p->stored, 1);
		assert_int_equal(p->lost[LOSS_queue_full], 1);
		assert_int_equal(p->lost[LOSS_store_full], 1);
		assert_int_equal(p->lost[LOSS_recursion], 1);
		assert_int_equal(p->lost[LOSS_no_record], 2);
		assert_int_equal(p->lost_weight[LOSS_queue_full], 100);
		assert_int_equal(p->unsampled, 1000000 - 138);
		if (round == 0) /* the thread ends, and is drained */
			atomic_store(&other->state, RECORD_CLOSING);
		if (round == 1)
			aggregate_close(c);
	}
	assert_int_equal(atomic_load(&other->state), RECORD_FREE);
}

/* A queue that overflowed grows, and its samples are all there. */
static void growth(void **state)
{
	uint64_t i, lost = 0, pushed = 0;
	struct queue *next;

	for (i = 0; i < 30; i++) {
		const uint64_t frames[] = {I(a, (uint32_t)i)};
		struct queue *q = atomic_load(&record->current);

		if (queue_fill(q) == q->capacity) {
			record_take(record, 0);
			record_lose(record, 0, LOSS_queue_full, 1);
			lost++;
		} else {
			sample_on(record, 1, 0, frames, 1);
			pushed++;
		}
	}
	assert_int_equal(lost, 10);
	drain();
	next = atomic_load(&record->next); /* 10 of 20: r = 0.5 → twice */
	assert_non_null(next);
	assert_int_equal(next->capacity, 40);
	drain(); /* not taken yet: offered once */
	assert_ptr_equal(atomic_load(&record->next), next);
	SAMPLE(1, I(a, 1)); /* the handler is between two samples */
	atomic_store(&record->current, next);
	atomic_store(&record->next, NULL);
	SAMPLE(1, I(a, 2));
	make_view();
	assert_int_equal(view->stored, pushed + 2);
	assert_int_equal(view->lost[LOSS_queue_full], lost);
	assert_int_equal(view->queues.increments, 1);
	assert_int_equal(view->queues.max_capacity, 40);
	assert_int_equal(view->queues.max_fill, 20);
	assert_ptr_equal(record->draining, next);
}

static void lose_full(uint32_t count)
{
	while (count--) {
		record_take(record, 0);
		record_lose(record, 0, LOSS_queue_full, 1);
	}
	drain();
}

/* Losses that are too few for a bigger queue each time are not too few together, and are not counted again afterwards. */
static void growth_by_few(void **state)
{
	struct queue *first = atomic_load(&record->current), *big;

	lose_full(first->capacity * 7); /* r = 7 → eight times */
	big = atomic_load(&record->next);
	assert_non_null(big);
	assert_int_equal(big->capacity, 160);
	atomic_store(&record->current, big);
	atomic_store(&record->next, NULL);
	drain();
	assert_ptr_equal(record->draining, big);
	lose_full(1);
	assert_null(atomic_load(&record->next)); /* 1 of 160: r < 0.01 */
	lose_full(0);
	assert_null(atomic_load(&record->next));
	lose_full(1);
	assert_non_null(atomic_load(&record->next)); /* 2 of 160 */
	assert_int_equal(atomic_load(&record->next)->capacity, 320);
	atomic_store(&record->current, atomic_load(&record->next));
	atomic_store(&record->next, NULL);
	drain();
	lose_full(3);
	assert_null(atomic_load(&record->next)); /* 3 of 320 */
	make_view();
	assert_int_equal(view->queues.increments, 2);
	assert_int_equal(view->lost[LOSS_queue_full], 145);
}

/* Stack NUMBER of many: its bits are its methods. */
static void sample_number(uint32_t number, uint64_t weight)
{
	uint64_t frames[14];
	uint32_t i;

	for (i = 0; i < ARRAY_LEN(frames); i++)
		frames[i] = I(number >> i & 1 ? a : b, 1);
	sample_on(record, weight, 0, frames, ARRAY_LEN(frames));
	if (number % 8 == 7)
		drain();
}

static bool begin_again(void)
{
	bool begun;

	pthread_mutex_lock(&c->lock);
	begun = generation_begin(c);
	pthread_mutex_unlock(&c->lock);
	return begun;
}

/* A new aggregate: all stacks go on, equal ones as one, and no sum is another. */
static void generations(void **state)
{
	enum { ALL = 1 << 14 };
	const char *heavy = "pkg/B.beta/0;pkg/A.alpha/0";
	const struct profile *p;
	uint32_t i, round;

	assert_false(begin_again()); /* not for so few */
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 100; i++) {
			SAMPLE(5, I(a, 1), I(b, 7));
			drain();
		}
		for (i = 0; i < ALL; i++)
			sample_number(i, 3);
		assert_true(begin_again());
		assert_true(c->nodes.count <= ALL + 3);
		p = make_view();
		assert_int_equal(p->stored, (round + 1) * (ALL + 100));
		assert_int_equal(p->weight_stored, (round + 1) * (3 * ALL + 500));
		assert_int_equal(p->stack_count, ALL + 1);
		assert_int_equal(p->merged.samples, 0);
		has(p, heavy, 100 * (round + 1), 500 * (round + 1));
	}
	/* a trace of before is a stack of now, and the next aggregate has both as one */
	SAMPLE(5, I(a, 1), I(b, 7));
	p = make_view();
	has(p, heavy, 201, 1005);
	for (i = 0; i < ALL; i++)
		sample_number(i, 3);
	assert_true(begin_again());
	p = make_view();
	has(p, heavy, 201, 1005);
	assert_int_equal(p->stored, 3 * ALL + 201);
}

/* Where there is no room for all of them, the heaviest go on, and the others are one. */
static void too_many_stacks(void **state)
{
	enum { ALL = 1 << 14 };
	size_t size = zone.store.size;
	const struct profile *p;
	uint32_t i;

	for (i = 0; i < 100; i++) {
		SAMPLE(5, I(a, 1), I(b, 7));
		drain();
	}
	for (i = 0; i < ALL; i++)
		sample_number(i, 3);
	zone.store.size = 1 << 20;
	assert_true(begin_again());
	zone.store.size = size;
	p = make_view();
	assert_int_equal(p->stored, ALL + 100);
	assert_int_equal(p->weight_stored, 3 * ALL + 500);
	assert_true(p->stack_count > 1000 && p->stack_count < ALL / 2);
	assert_int_equal(p->merged.samples, ALL - (p->stack_count - 2));
	has(p, "pkg/B.beta/0;pkg/A.alpha/0", 100, 500);
	has(p, "[earlier_stacks]/7", p->merged.samples, 3 * p->merged.samples);
}

/* An event that is rare keeps its stacks beside one that is not. */
static void rare_events(void **state)
{
	enum { ALL = 1 << 14, RARE = 16 };
	size_t size = zone.store.size;
	const struct profile *p;
	uint32_t i;

	for (i = 0; i < 2 * ALL; i++)
		sample_number(i / 2, 3);
	drain();
	event = 1;
	for (i = 0; i < RARE; i++)
		sample_number(i, 3);
	drain();
	zone.store.size = 1 << 20;
	assert_true(begin_again());
	zone.store.size = size;
	p = make_view();
	assert_int_equal(p->stored, RARE);
	assert_int_equal(p->stack_count, RARE);
	event = 0;
	p = make_view();
	assert_int_equal(p->stored, 2 * ALL);
	assert_true(p->stack_count < ALL / 2);
}

/* Source lines keep positions apart that have one. */
static void lines(void **state)
{
	uintptr_t constant = *fake_at(a + 8);
	uint8_t *table = (uint8_t *)constant + 48 + 100; /* behind the byte code */

	*(uint16_t *)(constant + 28) = 1; /* it has a line table */
	*table++ = 0 << 3 | 5;   /* bci 0: line 5 */
	*table++ = 10 << 3 | 2;  /* bci 10: line 7 */
	*table++ = 0xff;         /* bci 50: line 2: two signed numbers, each byte one more */
	*table++ = 40 * 2 + 1;
	*table++ = 5 * 2 - 1 + 1;
	*table = 0;
	SAMPLE(1, I(a, 0));
	SAMPLE(2, I(a, 9));
	SAMPLE(4, I(a, 10));
	SAMPLE(8, I(a, 49));
	SAMPLE(16, I(a, 50));
	SAMPLE(32, I(a, FRAME_NO_BCI));
	SAMPLE(64, I(b, 3)); /* no table */
	make_view();
	has(view, "pkg/A.alpha/0:5", 2, 3);
	has(view, "pkg/A.alpha/0:7", 2, 12);
	has(view, "pkg/A.alpha/0:2", 1, 16);
	has(view, "pkg/A.alpha/0", 1, 32);
	has(view, "pkg/B.beta/0", 1, 64);
}

/* A sink that counts. */
struct counting {
	struct sink sink;
	uint64_t samples, weight, drains, begun, ended, closed;
	struct sink_event last;
};

#define COUNTING(s) CONTAINER_OF(s, struct counting, sink)

static void count_event(struct sink *s, const struct sink_event *e)
{
	COUNTING(s)->samples += e->samples;
	COUNTING(s)->weight += e->weight;
	COUNTING(s)->last = *e;
}

static void count_drain(struct sink *s, uint64_t at)
{
	COUNTING(s)->drains += at > 0;
}

static void count_begin(struct sink *s, uint32_t thread)
{
	COUNTING(s)->begun += thread < s->collector->threads.count;
}

static void count_end(struct sink *s, uint32_t thread, uint64_t at)
{
	COUNTING(s)->ended += thread < s->collector->threads.count;
}

static void count_close(struct sink *s)
{
	COUNTING(s)->closed++;
}

/* What is stored while a sink is there reaches it, once: no more, no less. */
static void sinks(void **state)
{
	static const struct sink_ops ops = {
		.event = count_event, .drained = count_drain, .thread_begin = count_begin, .thread_end = count_end,
		.close = count_close,
	};
	static const struct sink_ops none;
	struct counting first = {.sink.ops = &ops}, second = {.sink.ops = &ops};
	struct sink deaf = {.ops = &none};

	SAMPLE(1, I(a, 1));
	drain();
	sink_add(c, &first.sink);
	sink_add(c, &deaf);
	SAMPLE(2, I(a, 1));
	now += 7;
	SAMPLE(4, I(a, 2), I(b, 1));
	drain();
	assert_int_equal(first.samples, 2);
	assert_int_equal(first.weight, 6);
	assert_int_equal(first.drains, 1);
	assert_int_equal(first.last.time, now);
	assert_int_equal(first.last.samples, 1);
	assert_int_equal(first.last.span, 0);
	assert_int_equal(c->nodes.items[first.last.node].depth, 2);
	assert_int_equal(c->threads.items[first.last.thread].tid, os_gettid());
	sink_add(c, &second.sink);
	SAMPLE(8, I(b, 1));
	drain();
	sink_remove(&first.sink);
	assert_int_equal(first.closed, 1);
	SAMPLE(16, I(b, 1));
	sample_on(record, 32, 77, (const uint64_t[]){I(b, 1)}, 1);
	drain();
	assert_int_equal(first.weight, 14);
	assert_int_equal(second.weight, 56);
	assert_int_equal(second.last.vthread, 77);
	assert_int_equal(second.begun, 1); /* the virtual threads' */
	atomic_store(&record->state, RECORD_CLOSING);
	drain();
	assert_int_equal(second.ended, 1);
	sink_remove(&second.sink);
	sink_remove(&second.sink);
	assert_int_equal(second.closed, 1);
	assert_ptr_equal(c->sinks, &deaf);
	collector_free(c); /* which a sink that has not ended in time keeps */
	assert_int_equal(make_view()->weight_stored, 63);
	sink_remove(&deaf);
}

/* A sample of WEIGHT whose thread works for R. */
static void sample_for(const struct trace_context *r, uint64_t weight)
{
	struct sample s = {.time = now, .weight = weight, .thread = record->index, .noted = true,
			   .epoch = (uint16_t)method_epoch_now(&zone.epochs), .payload = payload};
	struct trace_context_note note = {.trace_context = *r};
	struct stack_trace_writer w;

	assert_true(stack_trace_begin(&w, &zone.store, &chunk, 2048));
	assert_true(stack_trace_put(&w, I(a, 1)));
	s.trace = stack_trace_end(&w);
	record_take(record, 0);
	assert_true(queue_push_pair(atomic_load(&record->current), &s, (const void *)&note));
}

/* One stack, apart by what its thread worked for. */
static void trace_contexts(void **state)
{
	const struct trace_context one = {1, 2, 3, 0}, two = {1, 2, 4, 88};
	const struct profile *p;
	uint64_t weights[3] = {0};
	uint32_t i;

	assert_true(trace_contexts_define(88, "route\nGET /\n"));
	sample_for(&one, 10);
	sample_for(&two, 200);
	SAMPLE(3000, I(a, 1));
	sample_for(&one, 40);
	p = make_view();
	assert_true(p->per_trace_context);
	assert_int_equal(p->stack_count, 3);
	assert_int_equal(p->trace_context_count, 2);
	assert_int_equal(p->trace_contexts[0].span, 3);
	assert_string_equal(p->trace_contexts[0].labels, "");
	assert_int_equal(p->trace_contexts[1].trace_low, 2);
	assert_string_equal(p->trace_contexts[1].labels, "route\nGET /\n");
	for (i = 0; i < 3; i++)
		weights[p->stacks[i].trace_context] = p->stacks[i].weight;
	assert_int_equal(weights[0], 3000);
	assert_int_equal(weights[1], 50);
	assert_int_equal(weights[2], 200);
	assert_int_equal(p->stored, 4);
}

/* Where it was not asked for they are one stack. */
static void contexts_together(void **state)
{
	const struct profile *p;

	sample_for(&(struct trace_context){1, 2, 3, 0}, 10);
	SAMPLE(3000, I(a, 1));
	p = make_view();
	has(p, "pkg/A.alpha/0", 2, 3010);
	assert_int_equal(p->stack_count, 1);
	assert_int_equal(p->trace_context_count, 0);
}

#ifndef ONE_HASH /* so many with one hash take minutes */
/* However many there are: those beyond 100,000 are one, and it says so. */
static void many_trace_contexts(void **state)
{
	struct trace_context r = {1, 2, 0, 0};
	const struct profile *p;
	uint64_t others = 0;
	uint32_t i;

	for (i = 0; i < 100100; i++) {
		r.span = i + 1;
		sample_for(&r, 1);
		if (i % 5 == 0)
			drain();
	}
	p = make_view();
	assert_int_equal(p->stored, 100100);
	assert_int_equal(p->trace_context_count, 100001);
	assert_true(p->trace_contexts[100000].others);
	for (i = 0; i < p->stack_count; i++)
		if (p->stacks[i].trace_context == 100001)
			others += p->stacks[i].weight;
	assert_int_equal(others, 100);
}
#endif

/* A virtual thread that the JVM took off its carrier, in whatever method, waits for a monitor; else it says where. */
static void off_its_carrier(void **state)
{
	uintptr_t yield = fake_method(&jvm, "java/lang/VirtualThread", "yieldContinuation", "()Z", 50);
	uintptr_t unmount = fake_method(&jvm, "java/lang/VirtualThread", "notifyJvmtiUnmount", "(Z)V", 0);
	uintptr_t do_yield = fake_method(&jvm, "jdk/internal/vm/Continuation", "doYield", "()I", 0);
	uintptr_t wait = fake_method(&jvm, "java/lang/Object", "wait0", "(J)V", 0);
	uintptr_t park = fake_method(&jvm, "jdk/internal/misc/Unsafe", "park", "(ZJ)V", 0);
	static const uint8_t states[] = {THREAD_BLOCKED, THREAD_PARKED, THREAD_PARKED, THREAD_PARKED, THREAD_WAITING,
					 THREAD_PARKED, THREAD_NATIVE, THREAD_HELD};
	const struct profile *p;
	uint32_t i;

	thread_state = THREAD_PARKED;
	SAMPLE(1, I(a, 1));
	SAMPLE(2, I(yield, 1), I(a, 1));
	SAMPLE(3, I(unmount, 1), I(a, 1));
	SAMPLE(4, I(do_yield, 1), I(a, 1));
	SAMPLE(5, I(wait, 1), I(a, 1));
	SAMPLE(6, I(park, 1), I(a, 1));
	/* one that is on its carrier, on its way */
	thread_state = THREAD_NATIVE;
	SAMPLE(7, I(unmount, 1), I(a, 1));
	thread_state = THREAD_NONE;
	SAMPLE(8, I(yield, 1), I(a, 1));
	p = make_view();
	assert_int_equal(p->stack_count, *state ? 8 : 6);
	for (i = 0; i < p->stack_count; i++)
		assert_int_equal(p->stacks[i].state, *state ? states[p->stacks[i].weight - 1] : THREAD_NONE);
}

/* A wait of THREAD's for a lock of CLASS. */
static void wait_on(uint32_t class, uint32_t identity, uint64_t duration, uint64_t weight, uint32_t owner_tid)
{
	struct sample s = {.time = now, .weight = weight, .thread = record->index, .state = THREAD_PARKED,
			   .epoch = (uint16_t)method_epoch_now(&zone.epochs), .payload = payload}, pair;
	struct wait_note n = {.duration = duration, .class = class, .identity = identity, .owner_tid = owner_tid};
	struct stack_trace_writer w;

	assert_true(stack_trace_begin(&w, &zone.store, &chunk, 2048));
	assert_true(stack_trace_put(&w, I(a, 1)));
	assert_true(stack_trace_put(&w, I(b, 1)));
	s.trace = stack_trace_end(&w);
	memcpy(&pair, &n, sizeof(pair));
	record_take(record, 0);
	assert_true(queue_push_pair(atomic_load(&record->current), &s, &pair));
}

/* A throw of CLASS, for WHAT if that is something. */
static void throw_of(uint32_t class, uint64_t weight, const struct trace_context *what)
{
	struct sample s = {.time = now, .weight = weight, .thread = record->index, .state = THREAD_RUNNING,
			   .epoch = (uint16_t)method_epoch_now(&zone.epochs), .noted = what != NULL};
	struct trace_context_note context = {.unused = {0}};
	struct field_note n = {.values = {class, 1}};
	const struct sample *const row[] = {&s, (const void *)&n, (const void *)&context};
	struct stack_trace_writer w;

	if (what)
		context.trace_context = *what;
	assert_true(stack_trace_begin(&w, &zone.store, &chunk, 2048));
	assert_true(stack_trace_put(&w, I(a, 1)));
	assert_true(stack_trace_put(&w, I(b, 1)));
	s.trace = stack_trace_end(&w);
	record_take(record, 0);
	assert_true(queue_push_row(atomic_load(&record->current), row, what ? 3 : 2));
}

static struct sink_event thrown;
static struct sink_fields thrown_fields;

static void on_throw(struct sink *sink, const struct sink_event *e)
{
	thrown = *e;
	assert_non_null(e->fields);
	thrown_fields = *e->fields;
}

/* The class among a sample's fields is its innermost frame; sinks get the stack without it, and all fields. */
static void fields(void **state)
{
	static const struct sink_ops ops = {.event = on_throw};
	const struct trace_context what = {1, 2, 3, 0};
	struct sink sink = {.ops = &ops};
	const struct profile *p;
	uint32_t class;

	assert_int_equal(class_names_open(), 0);
	class = class_number("pkg/Failure");
	sink_add(c, &sink);
	throw_of(class, 1, NULL);
	throw_of(class, 4, &what);
	throw_of(0, 2, NULL);
	throw_of(class, 8, &what);
	p = make_view();
	has(p, "pkg/B.beta/0;pkg/A.alpha/0;pkg/Failure./7", 3, 13);
	has(p, "pkg/B.beta/0;pkg/A.alpha/0", 1, 2);
	assert_int_equal(p->stored, 4);
	assert_int_equal(p->weight_stored, 15);
	assert_int_equal(c->nodes.items[thrown.node].depth, 2);
	assert_int_equal(thrown_fields.values[1], 1);
	assert_int_equal(thrown.trace_context.span, 3);
	assert_string_equal(strings_get(&c->frames.strings, thrown_fields.class_name), "pkg/Failure");
	sink_remove(&sink);
}

/* Stacks of waits end in the lock's class; sums by lock and by owner, the longest first. */
static void waits(void **state)
{
	const struct profile *p;
	uint32_t class;

	assert_int_equal(class_names_open(), 0);
	class = class_number("pkg/Lock");
	assert_int_equal(class_number("pkg/Lock"), class);
	assert_string_equal(class_name_of(class), "pkg/Lock");
	assert_null(class_name_of(0));
	wait_on(class, 0xaa, 5000, 7000, 0);
	wait_on(class, 0xbb, 9000, 9000, (uint32_t)os_gettid());
	wait_on(class, 0xaa, 1000, 1000, 0);
	wait_on(0, 0, 500, 500, 0);
	p = make_view();
	has(p, "pkg/B.beta/0;pkg/A.alpha/0;pkg/Lock./7@aa", 2, 8000);
	has(p, "pkg/B.beta/0;pkg/A.alpha/0;pkg/Lock./7@bb", 1, 9000);
	has(p, "pkg/B.beta/0;pkg/A.alpha/0;[no_lock]/7", 1, 500);
	assert_int_equal(p->stored, 4);
	assert_int_equal(p->lock_count, 3);
	assert_int_equal(p->locks[0].identity, 0xbb);
	assert_int_equal(p->locks[0].time, 9000);
	assert_string_equal(p->locks[1].name, "pkg/Lock");
	assert_int_equal(p->locks[1].waits, 2);
	assert_int_equal(p->locks[1].time, 8000);
	assert_int_equal(p->locks[1].longest, 5000);
	assert_string_equal(p->locks[2].name, "");
	assert_int_equal(p->owner_count, 1);
	assert_int_equal(p->owners[0].time, 9000);
}

/* However many locks there are: beyond so many, those of a class are one line, and nothing is left out of the sum. */
static void many_locks(void **state)
{
	uint32_t class, i;
	uint64_t sum = 0;

	assert_int_equal(class_names_open(), 0);
	class = class_number("pkg/Lock");
	for (i = 1; i <= WAITS_LOCKS + 1000; i++) {
		wait_on(class, i, 10, 10, 0);
		if (i % 5 == 0)
			drain();
	}
	make_view();
	/* stacks of the first ones are apart, the others are of their class */
	has(view, "pkg/B.beta/0;pkg/A.alpha/0;pkg/Lock./7@400", 1, 10);
	has(view, "pkg/B.beta/0;pkg/A.alpha/0;pkg/Lock./7", WAITS_LOCKS + 1000 - WAITS_APART,
	    10 * (WAITS_LOCKS + 1000 - WAITS_APART));
	assert_int_equal(view->stack_count, WAITS_APART + 1);
	assert_int_equal(view->lock_count, WAITS_LOCKS + 1);
	for (i = 0; i < view->lock_count; i++)
		sum += view->locks[i].time;
	assert_int_equal(sum, 10 * (WAITS_LOCKS + 1000));
	assert_int_equal(view->locks[0].identity, 0);
	assert_int_equal(view->locks[0].time, 10 * 1000);
}

static atomic_bool asking;

static void *ask_all_the_time(void *arg)
{
	uint64_t since, before = 0;

	while (atomic_load(&asking)) {
		since = ring_since(arg);
		if (since < before || since > os_monotonic() || ring_bytes(arg) > 64u << 20)
			return NULL;
		before = since;
	}
	return arg;
}

/* How far a flight recorder reaches back is told as of the last drain, to those who have no lock. */
static void asked_of_the_ring(void **state)
{
	struct ring *r = ring_new(30 * NS_PER_S, 4u << 20);
	pthread_t thread;
	void *well = NULL;
	uint64_t start = os_monotonic();
	uint32_t i;

	assert_non_null(r);
	ring_begin(r, c);
	assert_true(ring_since(r) == 0 && ring_bytes(r) == 0);
	pthread_mutex_lock(&c->lock);
	sink_event(c, &(struct sink_event){.time = os_monotonic(), .samples = 1, .weight = 1});
	assert_true(ring_since(r) == 0 && ring_bytes(r) == 0); /* the drain is not over */
	sink_drained(c);
	pthread_mutex_unlock(&c->lock);
	assert_true(ring_since(r) >= start && ring_since(r) <= os_monotonic());
	assert_true(ring_bytes(r) > 0);
	atomic_store(&asking, true);
	assert_int_equal(pthread_create(&thread, NULL, ask_all_the_time, r), 0);
	for (i = 0; i < 300000; i++) {
		pthread_mutex_lock(&c->lock);
		sink_event(c, &(struct sink_event){.time = os_monotonic(), .samples = 1, .weight = 1});
		if (i % 100 == 0)
			sink_drained(c);
		pthread_mutex_unlock(&c->lock);
	}
	atomic_store(&asking, false);
	pthread_join(thread, &well);
	assert_ptr_equal(well, r);
	ring_end(r);
	ring_free(r);
}

/* As many records as there can be: what has a sample is drained, and no bit behind the last one is looked at. */
static void all_records(void **state)
{
	uint32_t count = atomic_load(&zone.records.count);
	_Atomic uint32_t *fds = zone.record_of_fd;

	atomic_store(&zone.records.count, RECORD_LIMIT);
	SAMPLE(10, I(a, 5));
	record_stir(&zone.records, record->index);
	record_stir(&zone.records, RECORD_LIMIT - 1);
	pthread_mutex_lock(&c->lock);
	drain_stirred(c);
	pthread_mutex_unlock(&c->lock);
	atomic_store(&zone.records.count, count);
	assert_ptr_equal(zone.record_of_fd, fds);
	assert_true(atomic_load(&zone.records.stirred[RECORD_LIMIT / 64 - 1]) == 0);
	make_view();
	assert_int_equal(view->stored, 1);
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define WITH(test, what) cmocka_unit_test_prestate_setup_teardown(test, set_up, tear_down, (void *)what)

/* The thread that drains is held, as by a debugger, and has the lock: who asks how it stands gets the last answer. */
static void asked_while_the_lock_is_held(void **state)
{
	struct metrics_held first[COLLECTOR_HELD], again[COLLECTOR_HELD];
	struct collector_event_totals before[RECORD_EVENTS], after[RECORD_EVENTS];
	uint64_t began;

	SAMPLE(10, I(a, 1));
	drain();
	collector_event_totals(c, before);
	collector_held(c, first);
	assert_int_equal(before[0].stored, 1);
	SAMPLE(20, I(a, 1), I(b, 7));
	pthread_mutex_lock(&c->lock);
	drain_all(c);
	began = os_monotonic();
	collector_event_totals(c, after);
	collector_held(c, again);
	assert_in_range(os_monotonic() - began, 0, 30 * NS_PER_S);
	pthread_mutex_unlock(&c->lock);
	assert_memory_equal(&before[0], &after[0], sizeof(before[0]));
	assert_memory_equal(first, again, sizeof(first));
	collector_event_totals(c, after);
	assert_int_equal(after[0].stored, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(merged), T(asked_while_the_lock_is_held), T(recursion), T(early_ends), T(replaced_method), T(replaced_twice),
		T(dead_memory), T(redefined_class), T(method_in_the_making),
		T(freed_at_safepoints), T(safepoints_alone), T(replaced_before_us),
		WITH(without_counts, "no counts"), T(gone_method),
		T(names_come_late),
		T(unmapped_library), T(known_functions),
		WITH(java_only, "java only"), WITH(cut_stacks, "two kept"), WITH(places, "places"),
		WITH(threads, "threads"), WITH(resumed, "threads"),
		WITH(name_of_the_next, "threads"), T(losses), T(growth), T(growth_by_few), T(generations),
		T(too_many_stacks), WITH(rare_events, "two events"), T(all_records), T(asked_of_the_ring),
		WITH(lines, "lines"), T(sinks),
		WITH(names_of_short_threads, "threads"), WITH(name_as_the_kernel_says, "threads"),
		WITH(trace_contexts, "requests"), WITH(contexts_together, ""),
#ifndef ONE_HASH
		WITH(many_trace_contexts, "requests"),
#endif
		WITH(off_its_carrier, "clock"), T(off_its_carrier), WITH(waits, "waits"), WITH(many_locks, "waits"), WITH(fields, "fields"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
