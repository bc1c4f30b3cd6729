/*
 * Real stacks unwound by the tables, checked against the unwinder of the C
 * compiler's own run-time library (backtrace) – also at every single
 * instruction of a stretch of library code, prologues and epilogues included.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "common/elf/elf.h"
#include "elf_walk.h"

#define DEPTH 128
#define noinline __attribute__((noinline))

static struct image_set *set;
static volatile int sink;

/* ---- whole stacks ---- */

struct stack {
	uintptr_t ours[DEPTH];
	void *theirs[DEPTH];
	size_t count, their_count;
	enum walk_stop stop;
};

static struct stack stack;
static volatile bool stepping; /* each instruction is walked anyhow */

static noinline void take_stack(void)
{
	struct walk_from from;

	if (stepping)
		return;
	WALK_HERE(&from);
	stack.count = walk_frames(set, &from, stack.ours, DEPTH, &stack.stop);
	stack.their_count = (size_t)backtrace(stack.theirs, DEPTH);
}

/*
 * All frames but take_stack's own, which differ by the place of the two calls;
 * under a sanitizer the other list has one frame more before it.
 */
static void check_stack(void)
{
	size_t skip, i;

	assert_int_equal(stack.stop, STOP_END);
	assert_true(stack.count >= 4);
	assert_true(stack.their_count >= stack.count);
	skip = stack.their_count - stack.count;
	assert_true(skip <= 1);
	for (i = 1; i < stack.count; i++)
		assert_int_equal(stack.ours[i], (uintptr_t)stack.theirs[i + skip]);
}

static noinline int third(int a)
{
	take_stack();
	return a + sink;
}

static noinline int second(int a, int b)
{
	volatile char room[300];

	room[a] = (char)b;
	return third(a * 3) + room[b % 300] + 1;
}

/* Its stack pointer moves by an amount unknown to the compiler. */
static noinline int first(int n)
{
	char *room = __builtin_alloca((size_t)n + 16);

	memset(room, n, (size_t)n + 16);
	sink = room[n];
	return second(n, n + 1) + room[3];
}

/* Its frame is aligned more strictly than the stack: reached through another register. */
static noinline int aligned(int n)
{
	__attribute__((aligned(128))) volatile char room[256];
	char *more = __builtin_alloca((size_t)n + 1);

	room[n] = (char)n;
	more[n] = room[n];
	sink = more[n];
	return first(n) + room[n + 1] + more[n];
}

static void through_functions(void **state)
{
	sink = aligned(5);
	check_stack();
}

static int compare(const void *a, const void *b)
{
	take_stack();
	return *(const int *)a - *(const int *)b;
}

static void through_libc(void **state)
{
	int numbers[] = {3, 1};

	qsort(numbers, 2, sizeof(numbers[0]), compare);
	check_stack();
}

static void on_signal(int signo)
{
	take_stack();
}

static void through_a_signal(void **state)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	check_stack();
}

static void *on_thread(void *arg)
{
	sink = first(7);
	return NULL;
}

static void to_the_root_of_a_thread(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, on_thread, NULL), 0);
	pthread_join(thread, NULL);
	/* The other unwinder counts nothing behind clone; ours ends in it by its rule. */
	check_stack();
}

static void to_start(void **state)
{
	const struct image *image;
	const char *name;

	take_stack();
	check_stack();
	image = image_find(set, stack.ours[stack.count - 1]);
	assert_non_null(image);
	name = image_symbol(image, stack.ours[stack.count - 1] - 1, NULL);
	assert_non_null(name);
	assert_string_equal(name, "_start");
}

/* ---- every instruction ---- */

static uintptr_t base[DEPTH]; /* callers of the stepped function, outermost last */
static size_t base_count;
static struct {
	size_t steps, complete, compared, resolving, wrong;
	uintptr_t first_wrong;
	enum walk_stop first_stop;
	size_t kinds[CFA_SP_DEREF + 1]; /* steps by enum unwind_cfa of the innermost frame */
} seen;

static bool ends_in_base(const uintptr_t *pcs, size_t count)
{
	return count > base_count &&
	       memcmp(pcs + count - base_count, base, base_count * sizeof(*base)) == 0;
}

/* Frames behind the signal trampoline, as the other unwinder sees them. */
static bool agrees(const uintptr_t *pcs, size_t count)
{
	void *theirs[DEPTH];
	int n = backtrace(theirs, DEPTH), i;

	for (i = 0; i < n && (uintptr_t)theirs[i] != pcs[0]; i++)
		;
	if ((size_t)(n - i) != count)
		return false;
	for (; i < n; i++)
		if ((uintptr_t)theirs[i] != *pcs++)
			return false;
	return true;
}

/* Lazy binding keeps the CFA in rbx, which the callers' frames do not tell: a known limit. */
static bool is_resolving(uintptr_t pc, enum walk_stop stop)
{
	const struct image *image = image_find(set, pc);

	return stop == STOP_REGISTER && image && strncmp(image->name, "ld-linux", 8) == 0;
}

#define TRAP_FLAG 0x100

/* So that the figures tell which rules were met. */
static void note_kind(uintptr_t pc)
{
	const struct image *image = image_find(set, pc);
	const struct unwind_rule *rule = image ? unwind_find(image, pc) : NULL;

	if (rule && rule->cfa_kind <= CFA_SP_DEREF)
		seen.kinds[rule->cfa_kind]++;
}

static void on_step(int signo, siginfo_t *info, void *context)
{
	struct walk_from from = walk_from_context(context);
	uintptr_t pcs[DEPTH];
	enum walk_stop stop;
	size_t count;

	if (!stepping) {
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	count = walk_frames(set, &from, pcs, DEPTH, &stop);
	seen.steps++;
	note_kind(from.pc);
	if (stop == STOP_END && ends_in_base(pcs, count)) {
		seen.complete++;
		if (agrees(pcs, count))
			seen.compared++;
	} else if (is_resolving(pcs[count - 1], stop)) {
		seen.resolving++;
	} else if (!seen.wrong++) {
		seen.first_wrong = pcs[count - 1];
		seen.first_stop = stop;
	}
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Hand-written assembly whose frames only expressions describe; absent is fine. */
static struct {
	int (*init)(void *);
	int (*update)(void *, const void *, size_t);
} sha512;

static void find_sha512(void)
{
	void *library = dlopen("libcrypto.so.3", RTLD_NOW);

	if (!library) {
		print_message("SKIP in part: no libcrypto.so.3, assembly is not stepped through\n");
		return;
	}
	sha512.init = (int (*)(void *))dlsym(library, "SHA512_Init");
	sha512.update = (int (*)(void *, const void *, size_t))dlsym(library, "SHA512_Update");
}

static noinline void work(void)
{
	static char digest[512] __attribute__((aligned(16))); /* larger than its SHA512_CTX */
	static const char block[256];
	int numbers[] = {5, 3, 9, 1, 7};
	char text[128];
	struct timespec now;
	void *memory;

	stepping = true;
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
	snprintf(text, sizeof(text), "%d %s %g %p %-20.3f", 42, "text", 2.5, text, 1e10);
	sink = (int)strtod("12.75", NULL) + (int)strlen(text);
	qsort(numbers, 5, sizeof(int), by_number);
	memory = malloc(3000);
	memset(memory, 1, 3000);
	free(memory);
	clock_gettime(CLOCK_MONOTONIC, &now);
	/* libz is bound lazily: PLT stubs and the resolver. */
	sink += (int)crc32(0, (const Bytef *)text, 20) + (int)compressBound(sizeof(text));
	sink += aligned(9);
	if (sha512.init && sha512.update && sha512.init(digest))
		sha512.update(digest, block, sizeof(block));
	stepping = false;
}

static noinline void take_base_and_work(void)
{
	struct walk_from from;
	uintptr_t pcs[DEPTH];
	enum walk_stop stop;
	size_t count;

	WALK_HERE(&from);
	count = walk_frames(set, &from, pcs, DEPTH, &stop);
	assert_int_equal(stop, STOP_END);
	base_count = count - 1;
	memcpy(base, pcs + 1, base_count * sizeof(*base));
	work();
	sink++;
}

static void at_every_instruction(void **state)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO}, old;
	const char *name = NULL;

	assert_int_equal(sigaction(SIGTRAP, &action, &old), 0);
	take_base_and_work();
	sigaction(SIGTRAP, &old, NULL);
	print_message("%zu instructions: %zu complete, %zu equal to backtrace(), %zu in lazy binding, "
		      "%zu wrong\n",
		      seen.steps, seen.complete, seen.compared, seen.resolving, seen.wrong);
	print_message("rules met: sp %zu, fp %zu, register %zu, plt %zu, *fp %zu, *sp %zu\n",
		      seen.kinds[CFA_SP], seen.kinds[CFA_FP], seen.kinds[CFA_REG],
		      seen.kinds[CFA_PLT], seen.kinds[CFA_FP_DEREF], seen.kinds[CFA_SP_DEREF]);
	if (seen.wrong) {
		const struct image *image = image_find(set, seen.first_wrong);

		if (image)
			name = image_symbol(image, seen.first_wrong, NULL);
		print_message("first wrong walk stopped (%d) at %#lx %s %s\n", seen.first_stop,
			      (unsigned long)seen.first_wrong, image ? image->name : "-",
			      name ? name : "-");
	}
	assert_true(seen.complete > 3000);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(seen.compared, seen.complete);
}

static int set_up(void **state)
{
	struct error err;
	void *warm[4];

	backtrace(warm, 4); /* loads a library at its first call */
	find_sha512();
	set = image_set_read(NULL, &err);
	return set ? 0 : -1;
}

static int tear_down(void **state)
{
	image_set_free(set, NULL);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(through_functions), cmocka_unit_test(through_libc),
		cmocka_unit_test(through_a_signal),  cmocka_unit_test(to_the_root_of_a_thread),
		cmocka_unit_test(to_start),          cmocka_unit_test(at_every_instruction),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
