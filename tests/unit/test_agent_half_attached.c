/*
 * What agent/jvm/half_attached.c sees of a list of threads, as it is read where process_vm_readv is denied and no handler of
 * ours stands, too. The list here is made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/jvm/half_attached.h"
#include "common/os/os.h"

#define THREADS 40

struct made_thread {
	uintptr_t os, handle;
};

static struct made_thread thread[THREADS];
static uintptr_t object = 1, thread_at[THREADS];
static uint32_t number[THREADS];
static struct {
	uintptr_t array;
	uint32_t length;
} list;
static uintptr_t list_at;

static int layout(struct layout *l, struct error *err)
{
	(void)err;
	*l = (struct layout){0};
	l->threads = (uintptr_t)&list_at;
	l->threads_array = offsetof(typeof(list), array);
	l->threads_length = offsetof(typeof(list), length);
	l->thread_osthread = offsetof(struct made_thread, os);
	l->thread_object = offsetof(struct made_thread, handle);
	return 0;
}

#define layout_read layout
bool open_made(struct half_attached *h);
void close_made(struct half_attached *h);
enum half_attached_seen look_made(struct half_attached *h);
#define half_attached_open open_made
#define half_attached_close close_made
#define half_attached_look look_made
#include "../../src/agent/jvm/half_attached.c"

static int set_up(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < THREADS; i++) {
		number[i] = i ? 0x7fffff00u + i : (uint32_t)os_gettid();
		thread[i] = (struct made_thread){(uintptr_t)&number[i], (uintptr_t)&object};
		thread_at[i] = (uintptr_t)&thread[i];
	}
	list.array = (uintptr_t)thread_at;
	list.length = THREADS;
	list_at = (uintptr_t)&list;
	return 0;
}

static enum half_attached_seen method_identities_once(void)
{
	struct half_attached h;
	enum half_attached_seen seen;

	if (!half_attached_open(&h))
		return (enum half_attached_seen) - 1;
	seen = half_attached_look(&h);
	half_attached_close(&h);
	return seen;
}

static bool all_cases(void)
{
	uintptr_t none = 0;
	bool right = method_identities_once() == HALF_ATTACHED_NONE;
	unsigned at;

	for (at = 0; at < THREADS; at += 13) {
		thread[at].handle = 0;
		right = right && method_identities_once() == HALF_ATTACHED_HALF;
		thread[at].handle = (uintptr_t)&none;
		right = right && method_identities_once() == HALF_ATTACHED_HALF;
		thread[at].handle = (uintptr_t)&object;
	}
	list_at = 8; /* freed, say: nothing is known, and nothing is refused for that */
	right = right && method_identities_once() == HALF_ATTACHED_PERHAPS;
	list_at = (uintptr_t)&list;
	return right && method_identities_once() == HALF_ATTACHED_NONE;
}

static void whole_and_half(void **state)
{
	(void)state;
	assert_true(all_cases());
}

/* As Docker's filter has it. In a child: a filter stays. */
static void in_a_container(void **state)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(f) / sizeof(f[0]), .filter = f};
	int status;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (!child) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
			_exit(2);
		_exit(all_cases() ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static atomic_bool over;

static void *run(void *arg)
{
	atomic_store((atomic_uint *)arg, (unsigned)os_gettid());
	while (!atomic_load(&over))
		;
	return NULL;
}

/* A thread outside the list that runs has to have run; one of the list need not. */
static void ready_outside(void **state)
{
	struct half_attached h;
	atomic_uint tid = 0;
	pthread_t t;
	unsigned n;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, run, &tid), 0);
	while (!atomic_load(&tid))
		os_sleep(NS_PER_MS);
	assert_true(half_attached_open(&h));
	assert_int_equal(half_attached_look(&h), HALF_ATTACHED_PERHAPS);
	for (n = 0; n < 10000 && half_attached_look(&h) != HALF_ATTACHED_NONE; n++)
		os_sleep(NS_PER_MS);
	assert_true(n < 10000);
	half_attached_close(&h);
	number[1] = atomic_load(&tid);
	assert_int_equal(method_identities_once(), HALF_ATTACHED_NONE);
	atomic_store(&over, true);
	pthread_join(t, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(whole_and_half, set_up),
		cmocka_unit_test_setup(in_a_container, set_up),
		cmocka_unit_test_setup(ready_outside, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
