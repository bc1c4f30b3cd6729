/*
 * Descriptors whose close() takes long are closed while the session goes on: by threads of ours, which end when there
 * is nothing left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "agent/threads/closers.h"
#include "common/os/os.h"

#define MANY 200

static void take_many(int *fds)
{
	int i;

	for (i = 0; i < MANY; i++) {
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		assert_true(fds[i] >= 0);
		closers_take(fds[i]);
	}
}

static int still_open(const int *fds)
{
	int i, n = 0;

	for (i = 0; i < MANY; i++)
		n += fcntl(fds[i], F_GETFD) >= 0;
	return n;
}

/* Meanwhile: the end is not asked for. Again, as threads come and go. */
static void closed_meanwhile(void **state)
{
	uint64_t until = os_monotonic() + 60 * NS_PER_S;
	unsigned done = 0;
	int fds[MANY], round;

	for (round = 1; round <= 3; round++) {
		take_many(fds);
		if (round == 1) /* later a thread of the round before may be at work already */
			assert_int_equal(still_open(fds), MANY);
		while (done < (unsigned)(round * MANY)) {
			assert_true(os_monotonic() < until);
			closers_keep();
			os_sleep(NS_PER_MS);
			done += closers_done();
		}
		assert_int_equal(still_open(fds), 0);
	}
	assert_int_equal(done, 3 * MANY);
	closers_end();
}

static void closed_at_the_end(void **state)
{
	int fds[MANY];

	take_many(fds);
	closers_end();
	assert_int_equal(still_open(fds), 0);
	closers_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closed_meanwhile),
		cmocka_unit_test(closed_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
