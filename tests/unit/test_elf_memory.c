/* Memory of this process by each of the ways to it: up to the first page that is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "../../src/common/elf/memory.c"

#define PAGE 4096

static uint8_t *pages; /* two, and none behind them */

static int set_up(void **state)
{
	size_t i;

	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return -1;
	for (i = 0; i < 2 * PAGE; i++)
		pages[i] = (uint8_t)(i * 7 + i / 256);
	return munmap(pages + 2 * PAGE, PAGE);
}

static void check(const struct memory *r)
{
	uint8_t to[3 * PAGE];

	assert_true(is_ours(r));
	assert_int_equal(memory_read(r, to, (uintptr_t)pages + 100, PAGE + 5), PAGE + 5);
	assert_memory_equal(to, pages + 100, PAGE + 5);
	assert_int_equal(memory_read(r, to, (uintptr_t)pages + PAGE - 3, sizeof(to)), PAGE + 3);
	assert_memory_equal(to, pages + PAGE - 3, PAGE + 3);
	assert_int_equal(memory_read(r, to, (uintptr_t)pages + 2 * PAGE, 1), 0);
}

static void by_file(void **state)
{
	struct memory r = {open("/proc/self/mem", O_RDONLY | O_CLOEXEC), {-1, -1}};

	check(&r);
	memory_close(&r);
}

static void by_call(void **state)
{
	struct memory r = {-1, {-1, -1}};

	check(&r);
}

static void by_pipe(void **state)
{
	struct memory r = {-1, {-1, -1}};

	assert_int_equal(pipe2(r.pipe, O_CLOEXEC | O_NONBLOCK), 0);
	check(&r);
	memory_close(&r);
}

/* Memory of another process is not taken for ours: an emulator's, say. */
static void of_others(void **state)
{
	struct memory r = {open("/proc/self/exe", O_RDONLY | O_CLOEXEC), {-1, -1}};

	assert_false(is_ours(&r));
	memory_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_file),
		cmocka_unit_test(by_call),
		cmocka_unit_test(by_pipe),
		cmocka_unit_test(of_others),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
