/*
 * Loads of memory that is not there give false, by a fault or by the kernel's word; faults of others reach whom they
 * reached before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "agent/hooks/faults.h"
#include "agent/walk/fault.h"
#include "agent/zone/load.h"
#include "common/base/error.h"

#define PAGE 4096ul

static uint8_t *readable, *forbidden; /* neighbours */
static uintptr_t unmapped;

static uint64_t expected(const uint8_t *at, unsigned width)
{
	uint64_t value = 0;

	memcpy(&value, at, width);
	return value;
}

/* The test framework has handlers of its own around each test: ours come after those. */
static void install(void)
{
	struct error err;

	assert_int_equal(faults_install(&err), 0);
	fault_trust(); /* the framework's is a library's handler: at first nothing is known of it */
}

static void both_ways(void (*check)(void))
{
	install();
	assert_false(load_asks());
	check();
	fault_doubt();
	assert_true(load_asks());
	check();
	faults_remove();
	assert_true(load_asks());
	check();
}

static void check_good_loads(void)
{
	static const unsigned widths[] = {1, 2, 4, 8};
	uint32_t narrow;
	uint64_t wide;
	uintptr_t word;
	size_t i, at;

	for (i = 0; i < PAGE; i++)
		readable[i] = (uint8_t)(i * 7 + 0x85);
	for (at = 0; at <= PAGE - 8; at += 13) {
		uintptr_t from = (uintptr_t)readable + at;

		assert_true(load_u8(from, &narrow) && narrow == expected(readable + at, 1));
		assert_true(load_u16(from, &narrow) && narrow == expected(readable + at, 2));
		assert_true(load_u32(from, &narrow) && narrow == expected(readable + at, 4));
		assert_true(load_u64(from, &wide) && wide == expected(readable + at, 8));
		assert_true(load_word(from, &word) && word == expected(readable + at, 8));
		for (i = 0; i < ARRAY_LEN(widths); i++)
			assert_true(load_field(from, widths[i], &wide) &&
				    wide == expected(readable + at, widths[i]));
	}
}

static void good_loads(void **state)
{
	both_ways(check_good_loads);
}

static void replaced(void **state)
{
	uint64_t *at = (uint64_t *)readable, found = 1;

	install();
	*at = 7;
	assert_true(load_replace_u64((uintptr_t)at, 6, 8, &found) && found == 7 && *at == 7);
	assert_true(load_replace_u64((uintptr_t)at, 7, 8, &found) && found == 7 && *at == 8);
	assert_false(load_replace_u64((uintptr_t)forbidden, 0, 8, &found));
	assert_false(load_replace_u64(unmapped, 0, 8, &found));
	assert_false(load_replace_u64((uintptr_t)"constant" & ~(uintptr_t)7, 0, 8, &found));
	faults_remove();
	assert_false(load_replace_u64((uintptr_t)at, 8, 9, &found));
	assert_int_equal(*at, 8);
}

static void no_load(uintptr_t from)
{
	uint32_t narrow = 0x1234;
	uint64_t wide = 0x1234;
	uintptr_t word = 0x1234;

	assert_false(load_u8(from, &narrow));
	assert_false(load_u16(from, &narrow));
	assert_false(load_u32(from, &narrow));
	assert_false(load_u64(from, &wide));
	assert_false(load_word(from, &word));
	assert_false(load_field(from, 1, &wide));
	assert_false(load_field(from, 2, &wide));
	assert_false(load_field(from, 4, &wide));
	assert_false(load_field(from, 8, &wide));
	assert_int_equal(narrow, 0x1234);
	assert_true(wide == 0x1234 && word == 0x1234);
}

static void check_bad_loads(void)
{
	uint64_t wide;
	uint32_t narrow;

	no_load(0);
	no_load(8);
	no_load(unmapped);
	no_load((uintptr_t)forbidden);
	no_load((uintptr_t)forbidden + 123);
	no_load(0xffffffffff600000); /* the vsyscall page: executable, not readable */
	no_load(UINTPTR_MAX - 7);
	no_load(0x8000000000000000);  /* not canonical: a general protection fault */
	no_load(0x0001234500000000);
	/* The last byte of a page can be read, the word that begins there cannot. */
	assert_true(load_u8((uintptr_t)forbidden - 1, &narrow));
	assert_false(load_u16((uintptr_t)forbidden - 1, &narrow));
	assert_false(load_u32((uintptr_t)forbidden - 3, &narrow));
	assert_false(load_u64((uintptr_t)forbidden - 7, &wide));
	assert_true(load_u64((uintptr_t)forbidden - 8, &wide));
}

static void bad_loads(void **state)
{
	both_ways(check_bad_loads);
}

static void check_bytes(void)
{
	uint8_t to[64];
	size_t n;

	for (n = 0; n < 40; n++) {
		memset(to, 0xee, sizeof(to));
		assert_true(load_bytes(to, (uintptr_t)forbidden - n, n));
		assert_memory_equal(to, forbidden - n, n);
		assert_int_equal(to[n], 0xee);
		assert_false(load_bytes(to, (uintptr_t)forbidden - n, n + 1));
		assert_int_equal(to[n + 1], 0xee);
	}
}

static void bytes(void **state)
{
	both_ways(check_bytes);
}

/* Behind the end of a file that was cut, a mapping gives SIGBUS. */
static void check_bus_error(void)
{
	char path[] = "/tmp/jstrobe-fault-XXXXXX";
	int fd = mkstemp(path);
	volatile uint8_t *map;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(ftruncate(fd, 2 * PAGE), 0);
	map = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	no_load((uintptr_t)map + PAGE);
	assert_int_equal(map[PAGE - 1], 0);
	munmap((void *)map, 2 * PAGE);
	close(fd);
}

static void bus_error(void **state)
{
	both_ways(check_bus_error);
}

/* ---- the program's own faults ---- */

static struct {
	int signo, code;
	void *address;
	int count;
	bool usr1_blocked;
} seen;
static sigjmp_buf back;

static void theirs(int signo, siginfo_t *info, void *context)
{
	sigset_t mask;

	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	seen.signo = signo;
	seen.code = info->si_code;
	seen.address = info->si_addr;
	seen.usr1_blocked = sigismember(&mask, SIGUSR1);
	seen.count++;
	siglongjmp(back, 1);
}

/* Repairs the cause and goes on where it was, as HotSpot does for its polls. */
static void repair(int signo, siginfo_t *info, void *context)
{
	seen.count++;
	mprotect(forbidden, PAGE, PROT_READ);
}

static void simple(int signo)
{
	seen.signo = signo;
	seen.count++;
	siglongjmp(back, 1);
}

/* ACTION before ours; the former one comes back at the end. */
static void under(const struct sigaction *action, void (*check)(void))
{
	struct sigaction before, now;
	struct error err;

	sigaction(SIGSEGV, action, &before);
	assert_int_equal(faults_install(&err), 0);
	assert_int_equal(faults_install(&err), 0); /* a second time does nothing */
	fault_trust();
	memset(&seen, 0, sizeof(seen));
	check();
	no_load((uintptr_t)unmapped);
	faults_remove();
	sigaction(SIGSEGV, NULL, &now);
	assert_ptr_equal(now.sa_sigaction, action->sa_sigaction);
	assert_int_equal(now.sa_flags & ~0x04000000, action->sa_flags); /* SA_RESTORER */
	assert_memory_equal(&now.sa_mask, &action->sa_mask, 8);
	faults_remove();
	sigaction(SIGSEGV, &before, NULL);
}

static void faults_thrice(void)
{
	static int i; /* lives across siglongjmp */

	for (i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			*(volatile uint8_t *)(forbidden + 40) = 1;
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.signo, SIGSEGV);
}

static void with_details(void)
{
	faults_thrice();
	assert_int_equal(seen.code, SEGV_ACCERR);
	assert_ptr_equal(seen.address, forbidden + 40);
	assert_true(seen.usr1_blocked);
}

static void reads_forbidden(void)
{
	assert_int_equal(*(volatile uint8_t *)(forbidden + 9), 0);
	assert_int_equal(seen.count, 1);
	mprotect(forbidden, PAGE, PROT_NONE);
}

static void chained(void **state)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};

	action.sa_sigaction = theirs;
	sigaddset(&action.sa_mask, SIGUSR1);
	under(&action, with_details);
	action.sa_flags |= SA_ONSTACK;
	action.sa_sigaction = repair;
	under(&action, reads_forbidden);
	memset(&action, 0, sizeof(action));
	action.sa_handler = simple;
	under(&action, faults_thrice);
}

/* Another handler was installed after ours: that one stays, and so does ours behind it. */
static void not_last(void **state)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO}, ours, now;

	install();
	action.sa_sigaction = theirs;
	sigaction(SIGSEGV, &action, &ours);
	assert_ptr_equal(ours.sa_sigaction, fault_handler);
	faults_remove();
	sigaction(SIGSEGV, NULL, &now);
	assert_ptr_equal(now.sa_sigaction, theirs);
	sigaction(SIGSEGV, &ours, NULL);
	no_load(unmapped);
	faults_remove();
	sigaction(SIGSEGV, NULL, &now);
	assert_ptr_not_equal(now.sa_sigaction, fault_handler);
}

static int set_up(void **state)
{
	readable = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	forbidden = readable + PAGE;
	unmapped = (uintptr_t)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap((void *)unmapped, PAGE);
	return mprotect(forbidden, PAGE, PROT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_loads), cmocka_unit_test(replaced), cmocka_unit_test(bad_loads),
		cmocka_unit_test(bytes),      cmocka_unit_test(bus_error),
		cmocka_unit_test(chained),    cmocka_unit_test(not_last),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
