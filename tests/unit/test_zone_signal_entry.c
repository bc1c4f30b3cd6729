/*
 * Signals while the program has EFLAGS.AC set, as HotSpot's CPU detection has: an unaligned access is a fault then, in
 * a handler as well, unless it goes without first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/os/os.h"
#include "harness.h"

#if defined(__x86_64__)
/* TURNS of a loop that touches no memory, with AC. */
static void spin_checked(uint64_t turns)
{
	asm volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x40000, (%%rsp)\n\tpopfq\n"
		     "1:\n\tdecq %0\n\tjnz 1b\n\t"
		     "pushfq\n\tandq $~0x40000, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
		     : "+r"(turns) : : "cc", "memory");
}

/* The signal that ends a child that reads unaligned with AC; 0: it may. */
static int checked_read(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		char words[16] = {0};

		asm volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x40000, (%%rsp)\n\tpopfq\n\tmovq 1(%0), %%rax\n\t"
			     "pushfq\n\tandq $~0x40000, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
			     : : "r"(((uintptr_t)words + 7) & ~(uintptr_t)7) : "rax", "cc", "memory");
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void samples_of(const char *event)
{
	const struct profile *p;
	struct error err;
	uint64_t end;

	if (harness_start_events(event, NS_PER_MS, 0, "", &err)) {
		print_message("SKIP: %s: %s\n", event, err.text);
		return;
	}
	for (end = os_thread_cpu(0) + NS_PER_S / 2; os_thread_cpu(0) < end;)
		spin_checked(100000);
	p = harness_stop();
	print_message("%s: %llu samples\n", event, (unsigned long long)p->stored);
	assert_true(p->stored > 50);
	harness_end();
}

static void handlers_come_in_aligned(void **state)
{
	static const char *const events[] = {"cpu", "ctimer", "itimer", "wall", "periodic"};
	size_t i;

	if (!checked_read()) {
		print_message("SKIP: the kernel or the hypervisor lets unaligned accesses be\n");
		skip();
	}
	for (i = 0; i < ARRAY_LEN(events); i++)
		samples_of(events[i]);
}
#else
static void handlers_come_in_aligned(void **state)
{
	print_message("SKIP: this CPU has no such flag\n");
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(handlers_come_in_aligned)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
