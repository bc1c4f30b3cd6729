/*
 * perf_transfer.c - perf descriptors from a command that may have what this process may not (--fdtransfer).
 *
 * The command leaves a process of its own at the other end of a socket, with its rights. It opens events of our
 * threads and nothing else (cli/talk/transfer.c). An answer takes 20 to 50 µs, but may never come, so no thread of the
 * program waits for one: what a thread that has just begun needs is asked for by a thread of ours.
 */
#include "agent/sources/cpu/perf_transfer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/sources/active.h"
#include "agent/threads/own_thread.h"
#include "agent/threads/records.h"
#include "common/base/error.h"
#include "common/base/vector.h"
#include "common/control/control.h"
#include "common/elf/elf.h"
#include "common/os/os.h"

#define ANSWER_MS 200
#define LOOK_AGAIN NS_PER_S

static int offered = -1;
static _Atomic int in_use = -1; /* used under the records' lock, or by the thread that starts the engine */
static int symbols = -1;

/* Threads that have begun. */
static struct {
	pthread_mutex_t lock; /* of tids; inside the records' lock */
	VECTOR(pid_t) tids;
	_Atomic uint32_t come; /* so many have come; the helper sleeps on it */
	pthread_t helper;
	bool helped;
	atomic_bool ending, alive;
} begun = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void transfer_offer(int sock)
{
	drop(&offered);
	offered = sock;
}

/* A descriptor, or why there is none; -ECONNRESET, -ETIMEDOUT: the other side has gone. */
static int ask(const char *question)
{
	struct control_message answer = CONTROL_MESSAGE_INIT;
	int sock = atomic_load(&in_use), fd = -1, rc;
	struct error err;

	rc = control_send_text(sock, CONTROL_PERF_ASK, question, ANSWER_MS, &err);
	if (rc == 0)
		rc = control_receive(sock, &answer, ANSWER_MS, &err);
	if (rc == 0 && answer.type != CONTROL_PERF_GIVE)
		rc = -ECONNRESET;
	if (rc == 0) {
		fd = answer.fd;
		answer.fd = -1;
		rc = -(int)control_number(answer.payload, "code");
		if (fd < 0 && rc >= 0)
			rc = -EIO;
	}
	control_release(&answer);
	return fd >= 0 ? fd : rc;
}

/* ---- threads that begin ---- */

/* The next of them; 0: there is none. */
static pid_t take(void)
{
	pid_t tid;

	pthread_mutex_lock(&begun.lock);
	tid = begun.tids.count ? begun.tids.items[--begun.tids.count] : 0;
	pthread_mutex_unlock(&begun.lock);
	return tid;
}

static void *help(void *arg)
{
	uint32_t seen = 0;
	pid_t tid;

	own_thread_begin("jstrobe perf");
	while (!atomic_load(&begun.ending)) {
		os_wait_while(&begun.come, seen, LOOK_AGAIN);
		seen = atomic_load(&begun.come);
		while (!atomic_load(&begun.ending) && (tid = take()) != 0)
			records_arm(tid);
	}
	own_thread_end();
	atomic_store(&begun.alive, false);
	return arg;
}

static void call_helper(void)
{
	atomic_fetch_add(&begun.come, 1);
	os_wake(&begun.come);
}

void transfer_wait(pid_t tid)
{
	pid_t *place;

	pthread_mutex_lock(&begun.lock);
	place = begun.helped ? VECTOR_PUSH(&begun.tids) : NULL;
	if (place)
		*place = tid;
	pthread_mutex_unlock(&begun.lock);
	/* else the next look at all threads finds it */
	if (place)
		call_helper();
}

static int start_helper(struct error *err)
{
	int rc;

	if (atomic_load(&begun.alive))
		return error_set(err, EBUSY, "fdtransfer: a thread of the session before still waits for an answer; "
				 "try again in a second");
	atomic_store(&begun.come, 0);
	atomic_store(&begun.ending, false);
	atomic_store(&begun.alive, true);
	rc = own_thread_start(&begun.helper, help, NULL, "fdtransfer", err);
	begun.helped = rc == 0;
	atomic_store(&begun.alive, begun.helped);
	return rc;
}

static void end_helper(void)
{
	if (!begun.helped)
		return;
	atomic_store(&begun.ending, true);
	call_helper();
	/* At most one answer that does not come is in its way. */
	own_thread_join(begun.helper, OWN_THREAD_PATIENCE);
	pthread_mutex_lock(&begun.lock);
	begun.helped = false;
	free(begun.tids.items);
	memset(&begun.tids, 0, sizeof(begun.tids));
	pthread_mutex_unlock(&begun.lock);
}

/* ---- the session ---- */

int transfer_begin(bool wanted, struct error *err)
{
	int rc;

	if (!wanted)
		return 0;
	if (offered < 0)
		return error_set(err, EINVAL, "fdtransfer: perf descriptors come from a command only: jstrobe record "
				 "--fdtransfer PID, or start");
	rc = start_helper(err);
	if (rc)
		return rc;
	atomic_store(&in_use, offered);
	offered = -1;
	symbols = ask("kallsyms=1\n");
	kernel_symbols_from(symbols);
	return 0;
}

static void hang_up(void)
{
	int sock = atomic_exchange(&in_use, -1);

	drop(&sock);
}

void transfer_end(void)
{
	end_helper();
	hang_up();
	kernel_symbols_from(-1);
	drop(&symbols);
}

bool transfer_serves(void)
{
	return atomic_load(&in_use) >= 0;
}

int transfer_open(pid_t tid, const struct os_perf *s)
{
	char question[512];
	int rc;

	snprintf(question, sizeof(question), "tid=%d\ntype=%u\nconfig=%llu\nconfig1=%llu\nconfig2=%llu\nbp_type=%u\n"
		 "period=%llu\nkernel=%d\nonly_cpu=%u\nscaled=%d\n", (int)tid, s->type,
		 (unsigned long long)s->config, (unsigned long long)s->config1, (unsigned long long)s->config2,
		 s->bp_type, (unsigned long long)s->period, s->kernel, s->only_cpu, s->scaled);
	rc = ask(question);
	/* What came late would be taken for the answer to something else. */
	if (rc == -ECONNRESET || rc == -ETIMEDOUT || rc == -EPROTO) {
		hang_up();
		shortfall_note(SHORTFALL_TRANSFER, rc);
		return -EACCES;
	}
	return rc;
}
