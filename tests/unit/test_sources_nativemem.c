/*
 * Native memory without a JVM: which calls are seen and how often, what sampled blocks weigh, and that none is
 * remembered too long or too short, freed by any thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/hooks/dynamic.h"
#include "agent/hooks/got.h"
#include "agent/sources/alloc_weight.h"
#include "agent/sources/nativemem/blocks.h"
#include "agent/sources/nativemem/malloc_hooks.h"
#include "common/base/random.h"
#include "harness.h"
#include "lib_malloc.h"

static const struct malloc_calls *calls;
static void *library;

static void load(const char *name)
{
	malloc_calls_fn *get;

	library = harness_library(name);
	assert_non_null(library);
	get = (malloc_calls_fn *)dlsym(library, "malloc_calls");
	assert_non_null(get);
	calls = get();
}

/* What came last, and how often. */
static _Atomic uint64_t seen, bytes;
static void *last_address;
static size_t last_size;
static uintptr_t last_pc;

static void remember(void *address, size_t size, struct draw_stream *s, const struct walk_caller *from)
{
	last_address = address;
	last_size = size;
	last_pc = from->pc;
	atomic_fetch_add(&seen, 1);
	atomic_fetch_add(&bytes, size);
	errno = ESTALE; /* the hook keeps the caller's */
}

static bool in_library(uintptr_t pc)
{
	Dl_info here, there;

	return dladdr((void *)pc, &here) && dladdr((const void *)calls, &there) && here.dli_fbase == there.dli_fbase;
}

static void one(void *p, size_t size, const char *what)
{
	if (seen != 1 || last_address != p || last_size != size || !in_library(last_pc) || errno != EDOM)
		fail_msg("%s: %llu seen, %p of %zu, not %p of %zu, errno %d", what, (unsigned long long)seen,
			 last_address, last_size, p, size, errno);
	seen = 0;
}

static void each_function(const char *name)
{
	void *p, *q;

	load(name);
	calls->free(calls->malloc(1)); /* a lazy slot is bound by that: where there are two definitions it has to be */
	assert_true(draw_open(0) && blocks_open());
	assert_true(malloc_hooks_install(remember));
	seen = 0;
	errno = EDOM;
	p = calls->malloc(100);
	one(p, 100, "malloc");
	q = calls->realloc(p, 20000);
	one(q, 20000, "realloc");
	q = calls->reallocarray(q, 100, 300);
	one(q, 30000, "reallocarray");
	calls->free(q);
	p = calls->calloc(7, 9);
	one(p, 63, "calloc");
	calls->free(p);
	assert_int_equal(calls->posix_memalign(&p, 64, 200), 0);
	one(p, 200, "posix_memalign");
	calls->free(p);
	p = calls->aligned_alloc(64, 256);
	one(p, 256, "aligned_alloc");
	calls->free(p);
	p = calls->memalign(128, 300);
	one(p, 300, "memalign");
	calls->free(p);
	p = calls->valloc(400);
	one(p, 400, "valloc");
	calls->free(p);
	/* libc's own calls of malloc; the sanitizer's strdup makes none */
	p = calls->strdup("native");
#ifndef __SANITIZE_ADDRESS__
	assert_int_equal(seen, 1);
	assert_int_equal(last_size, 7);
	assert_ptr_equal(last_address, p);
#endif
	calls->free(p);
	calls->free(NULL);
	seen = 0;
	malloc_hooks_remove();
	calls->free(calls->malloc(100));
	assert_int_equal(seen, 0);
	dlclose(library);
}

static void bound_at_once(void **state)
{
	each_function("lib_malloc.so");
}

static void bound_lazily(void **state)
{
	each_function("lib_malloc_lazy.so");
}

/* An image that comes while the hooks are there is found at the next look. */
static void loaded_later(void **state)
{
	assert_true(draw_open(0));
	assert_true(malloc_hooks_install(remember));
	load("lib_malloc.so");
	engine_of_collector.images_changed();
	seen = 0; /* libc reads the table of maps for us, with a buffer */
	calls->free(calls->malloc(100));
	assert_int_equal(seen, 1);
	dlclose(library);
	engine_of_collector.images_changed();
	malloc_hooks_remove();
}

struct wanted_slot {
	void *base;
	const char *symbol;
	void *slot;
};

#if UINTPTR_MAX > UINT32_MAX
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

static int look_for_slot(struct dl_phdr_info *image, size_t size, void *arg)
{
	struct wanted_slot *w = arg;
	struct dynamic d;
	size_t at;

	if (!dynamic_read(image, &d) || (void *)image->dlpi_addr != w->base)
		return 0;
	for (at = 0; d.plt.first && at < d.plt.size; at += d.plt.stride) {
		const ElfW(Rel) *r = (const void *)(d.plt.first + at);

		if (strcmp(d.strings + d.symbols[SYMBOL_OF(r->r_info)].st_name, w->symbol) == 0)
			w->slot = (void *)(image->dlpi_addr + r->r_offset);
	}
	for (at = 0; !w->slot && d.data.first && at < d.data.size; at += d.data.stride) {
		const ElfW(Rel) *r = (const void *)(d.data.first + at);

		if (strcmp(d.strings + d.symbols[SYMBOL_OF(r->r_info)].st_name, w->symbol) == 0)
			w->slot = (void *)(image->dlpi_addr + r->r_offset);
	}
	return 1;
}

static void **slot_of(void *base, const char *symbol)
{
	struct wanted_slot w = {base, symbol, NULL};

	dl_iterate_phdr(look_for_slot, &w);
	assert_non_null(w.slot);
	return w.slot;
}

static void *(*passed_to)(size_t);
static unsigned theirs;

static void *their_malloc(size_t size)
{
	theirs++;
	return passed_to(size);
}

/* Another tool that hooks after us keeps its slot, and goes on calling ours, which passes on. */
static void hooked_by_another_since(void **state)
{
	void *real = dlsym(RTLD_DEFAULT, "malloc"), *ours = NULL;
	void *p;

	load("lib_malloc.so");
	assert_true(draw_open(0));
	assert_true(malloc_hooks_install(remember));
	seen = 0;
	p = calls->malloc(10);
	calls->free(p);
	assert_int_equal(seen, 1);
	/* what stands there now: the one value that takes the slot from us */
	{
		Dl_info info;

		assert_true(dladdr((const void *)calls, &info));
		ours = *slot_of(info.dli_fbase, "malloc");
	}
	assert_ptr_not_equal(ours, real);
	passed_to = (void *(*)(size_t))ours;
	assert_true(got_patch("malloc", &ours, 1, (void *)their_malloc));
	malloc_hooks_remove();
	theirs = seen = 0;
	p = calls->malloc(10);
	memset(p, 0, 10);
	calls->free(p);
	assert_true(theirs >= 1); /* libc's own calls come by as well */
	assert_int_equal(seen, 0);
	got_restore("malloc", (void *)their_malloc, real);
	theirs = 0;
	calls->free(calls->malloc(10));
	assert_int_equal(theirs, 0);
	dlclose(library);
}

/* ---- distances ---- */

#define INTERVAL (512u << 10)
#define BYTES (4ull << 30)

static uint64_t told_weight, told_samples;

static void weigh(void *address, size_t size, struct draw_stream *s, const struct walk_caller *from)
{
	told_weight += alloc_weight(size, INTERVAL);
	told_samples++;
}

/* Sums of weights are right whatever sizes there are, within four standard errors. */
static void no_bias(void **state)
{
	static const size_t sizes[] = {64, 1000, 65536, INTERVAL, 3 * INTERVAL};
	size_t i;

	load("lib_malloc.so");
	assert_true(draw_open(INTERVAL));
	assert_true(malloc_hooks_install(weigh));
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		uint64_t n = MIN(BYTES / sizes[i], 20000000ull), j;
		double true_bytes = (double)n * (double)sizes[i], p, error;

		told_weight = told_samples = 0;
		for (j = 0; j < n; j++)
			calls->free(calls->malloc(sizes[i]));
		p = alloc_chance((double)sizes[i] / INTERVAL);
		error = sqrt((double)n * (1 - p) / p) * (double)sizes[i];
		if (fabs((double)told_weight - true_bytes) > 4 * error)
			fail_msg("%zu: %.4f of the bytes, %llu samples, error %.4f", sizes[i],
				 (double)told_weight / true_bytes, (unsigned long long)told_samples,
				 error / true_bytes);
		print_message("%zu bytes: %.4f of the truth, standard error %.4f\n", sizes[i],
			      (double)told_weight / true_bytes, error / true_bytes);
	}
	assert_int_equal(draw_total(context_tcb()) > BYTES, true);
	malloc_hooks_remove();
	dlclose(library);
}

/* ---- blocks ---- */

/* Frees are not noted then. */
static void forget(void)
{
	blocks_clear();
	blocks_freed(false, NULL, NULL);
}

static uint32_t sum_up(const struct block_there *b, void *arg)
{
	uint64_t *sum = arg;

	sum[0]++;
	sum[1] += b->weight;
	return b->owner;
}

static uint64_t add_one(uintptr_t address, uint64_t random)
{
	return blocks_add(address, &(struct block_there){1, 1, 0}, random);
}

static void add_block(void *address, size_t size, struct draw_stream *s, const struct walk_caller *from)
{
	assert_true(blocks_add((uintptr_t)address, &(struct block_there){size, 1, 0}, draw_random(s)) != 0);
	atomic_fetch_add(&seen, 1);
}

#define THREADS 8
#define SLOTS 4096

static void *_Atomic exchanged[SLOTS];
static uint64_t rounds;

/* Blocks change hands: who puts one into a slot frees, or resizes and keeps, the one that was there. */
static void *work(void *arg)
{
	uint64_t seed = random_seed((uintptr_t)arg), i;

	for (i = 0; i < rounds; i++) {
		void *p = calls->malloc(16 + random_below(&seed, 500)), *q;
		uint64_t what = random_below(&seed, 8);

		if (what == 0)
			p = calls->realloc(p, 16 + random_below(&seed, 2000));
		if (what == 1) {
			calls->free(p);
			p = calls->calloc(2, 50);
		}
		q = atomic_exchange(&exchanged[random_below(&seed, SLOTS)], p);
		if (q)
			calls->free(q);
	}
	return NULL;
}

static void storm(uint64_t interval)
{
	uint64_t sum[2] = {0}, held = 0;
	pthread_t threads[THREADS];
	uintptr_t i;

	assert_true(draw_open(interval) && blocks_open());
	forget();
	assert_true(malloc_hooks_install(add_block));
	seen = 0;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_true(seen > (interval ? 100 : THREADS * rounds));
	blocks_each(sum_up, sum);
	for (i = 0; i < SLOTS; i++)
		held += exchanged[i] != NULL;
	/* what the test's own threads leave in libc (stacks' bookkeeping) is asked for by libc itself */
	if (!interval)
		assert_in_range(sum[0], held, held + 64);
	assert_int_equal(blocks_now().count, sum[0]);
	assert_int_equal(blocks_now().level, 0);
	for (i = 0; i < SLOTS; i++)
		calls->free(atomic_exchange(&exchanged[i], NULL));
	sum[0] = 0;
	blocks_each(sum_up, sum);
	malloc_hooks_remove();
	if (sum[0] > 64)
		fail_msg("%llu blocks are remembered that were freed", (unsigned long long)sum[0]);
	forget();
	assert_int_equal(blocks_now().count, 0);
	for (i = 0; i < BLOCKS_FILTER; i++)
		assert_int_equal(blocks_filter[i], 0);
}

static void frees_by_other_threads(void **state)
{
	rounds = getenv("JSTROBE_SOAK") ? 1250000 : 125000;
	load("lib_malloc.so");
	storm(0);
	storm(4096);
	dlclose(library);
}

/* A realloc that fails leaves the block where it is. */
static void failed_realloc(void **state)
{
	uint64_t sum[2] = {0};
	void *p;

	load("lib_malloc.so");
	assert_true(draw_open(0) && blocks_open());
	forget();
	assert_true(malloc_hooks_install(add_block));
	p = calls->malloc(1000);
	blocks_each(sum_up, sum);
	assert_true(sum[0] >= 1);
#ifndef __SANITIZE_ADDRESS__
	{
		uint64_t again[2] = {0};
		volatile size_t huge = SIZE_MAX / 2;

		assert_null(calls->realloc(p, huge));
		blocks_each(sum_up, again);
		assert_int_equal(again[1], sum[1]);
	}
#endif
	assert_true(blocks_take_out((uintptr_t)p));
	assert_false(blocks_take_out((uintptr_t)p));
	malloc_hooks_remove();
	calls->free(p);
	dlclose(library);
}

/* More than there is room for: a random half goes, and sums stay right. Then few: each is remembered again. */
static void too_many(void **state)
{
	const uintptr_t base = 0x100000000000u & UINTPTR_MAX;
	uint64_t sum[2] = {0}, seed = 1, i, n = 1000000;
	double error;

	assert_true(blocks_open());
	forget();
	for (i = 0; i < n; i++)
		blocks_add(base + 64 + (uintptr_t)i * 48, &(struct block_there){100, 1, 0}, random_below(&seed, UINT64_MAX));
	blocks_each(sum_up, sum);
	assert_in_range(sum[0], BLOCKS_LIMIT / 4, BLOCKS_LIMIT + 1);
	error = 1 / sqrt((double)sum[0]);
	if (fabs((double)sum[1] / (100.0 * (double)n) - 1) > 4 * error)
		fail_msg("%.4f of the truth, standard error %.4f", (double)sum[1] / (100.0 * (double)n), error);
	assert_in_range(blocks_now().level, 4, 6);
	for (i = 0; i < n; i++)
		blocks_take_out(base + 64 + (uintptr_t)i * 48);
	assert_int_equal(blocks_now().count, 0);
	for (i = 0; i < 10; i++)
		blocks_add(base + 64, &(struct block_there){100, 1, 0}, random_below(&seed, UINT64_MAX));
	assert_int_equal(blocks_now().level, 0);
	forget();
}

/* Owners are the collector's: they are told late, and change. */
static uint32_t next_owner(const struct block_there *b, void *arg)
{
	*(uint32_t *)arg = b->owner;
	return b->owner + 1;
}

static void owners(void **state)
{
	uint64_t id, other;
	uint32_t owner = 77;

	assert_true(blocks_open());
	forget();
	id = add_one(4096, 0);
	blocks_each(next_owner, &owner);
	assert_int_equal(owner, 0);
	blocks_own(id, 5);
	blocks_each(next_owner, &owner);
	assert_int_equal(owner, 5);
	blocks_each(next_owner, &owner);
	assert_int_equal(owner, 6);
	assert_true(blocks_take_out(4096));
	other = add_one(4096, 0);
	assert_int_not_equal(id, other);
	blocks_own(id, 9); /* it is gone */
	blocks_each(next_owner, &owner);
	assert_int_equal(owner, 0);
	/* the free of what was there was not seen */
	add_one(4096, 0);
	assert_int_equal(blocks_now().count, 1);
	forget();
}

static uint64_t freed_sum;

static void add_freed(uint64_t time, uint32_t record, uint64_t address, uint64_t size, void *arg)
{
	assert_true(time != 0 && record == 0 && size == 0);
	freed_sum += address;
	++*(uint64_t *)arg;
}

/* A recording is told of each block that was freed, once; in the order of the frees. */
static void frees_told(void **state)
{
	uint64_t told = 0;
	_Atomic uint64_t *held;
	uintptr_t i;

	blocks_clear();
	blocks_gather();
	blocks_freed(true, add_freed, &told);
	assert_int_equal(told, 0);
	for (i = 1; i <= 1000; i++)
		add_one(i * 64, 0);
	for (i = 1; i <= 998; i++)
		assert_true(blocks_take_out(i * 64));
	held = blocks_hold(999 * 64);
	assert_non_null(held);
	blocks_let_go(held, true);
	held = blocks_hold(1000 * 64);
	assert_non_null(held);
	blocks_let_go(held, false);
	assert_int_equal(blocks_now().count, 1);
	freed_sum = 0;
	blocks_gather();
	blocks_freed(true, add_freed, &told);
	assert_int_equal(told, 999);
	assert_int_equal(freed_sum, 64 * 999 * 500);
	blocks_gather();
	blocks_freed(true, add_freed, &told);
	assert_int_equal(told, 999);
	assert_true(blocks_take_out(1000 * 64));
	blocks_gather();
	blocks_freed(true, add_freed, &told);
	/* one address over and over between two passes of the collector */
	told = 0;
	for (i = 0; i < 1000; i++)
		assert_true(add_one(64, 0) != 0 && blocks_take_out(64));
	assert_int_equal(blocks_now().count, 0);
	assert_int_equal(blocks_now().level, 0);
	blocks_gather();
	assert_int_equal(blocks_freed(true, add_freed, &told), 0);
	assert_int_equal(told, 1000);
	/* more than there is room for are counted */
	for (i = 0; i < 20000; i++)
		assert_true(add_one(64, 0) != 0 && blocks_take_out(64));
	told = 0;
	blocks_gather();
	i = (uintptr_t)blocks_freed(true, add_freed, &told);
	assert_int_equal(told + i, 20000);
	assert_true(i > 0);
	forget();
}

/* ---- what comes between ---- */

static void on_signal(int signo)
{
	calls->free(calls->malloc(50));
}

static void raise_inside(void *address, size_t size, struct draw_stream *s, const struct walk_caller *from)
{
	if (atomic_fetch_add(&seen, 1) == 0)
		raise(SIGUSR1);
}

/* A handler that allocates may come while a sample is taken. */
static void handler_that_allocates(void **state)
{
	load("lib_malloc.so");
	signal(SIGUSR1, on_signal);
	assert_true(draw_open(0));
	assert_true(malloc_hooks_install(raise_inside));
	seen = 0;
	calls->free(calls->malloc(10));
	assert_int_equal(seen, 2);
	malloc_hooks_remove();
	signal(SIGUSR1, SIG_DFL);
	dlclose(library);
}

/* Without address space there is no table. First of all: nothing is there yet. */
static void no_memory(void **state)
{
#ifndef __SANITIZE_ADDRESS__
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct rlimit none = {1 << 20, 1 << 20};

		setrlimit(RLIMIT_AS, &none);
		_exit(blocks_open() || draw_open(0) || blocks_take_out(4096) || add_one(4096, 1) ||
		      blocks_hold(4096) ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_memory), cmocka_unit_test(bound_at_once),
		cmocka_unit_test(bound_lazily), cmocka_unit_test(loaded_later),
		cmocka_unit_test(hooked_by_another_since), cmocka_unit_test(no_bias), cmocka_unit_test(owners),
		cmocka_unit_test(frees_told), cmocka_unit_test(too_many),
		cmocka_unit_test(failed_realloc),
		cmocka_unit_test(frees_by_other_threads), cmocka_unit_test(handler_that_allocates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
