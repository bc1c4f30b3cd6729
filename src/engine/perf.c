/*
 * perf.c - the `cpu` engine: a perf event a thread; a CPU timer for each thread that
 * gets none (permission, descriptors), for all of them without kernel permission
 * (an event that counts user time only would hide all kernel time).
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/signals.h"
#include "os/os.h"
#include "signal/handler.h"

static bool permitted;
static unsigned descriptors_left; /* at most half of the limit is used */

static int probe(void)
{
	int fd = os_perf_open(os_gettid(), NS_PER_S, true);

	if (fd >= 0)
		close(fd);
	return fd;
}

static bool fails(const struct engine_options *o, const char *part)
{
	return o->fail && strcmp(o->fail, part) == 0;
}

static const char *why_not(int rc)
{
	switch (-rc) {
	case EACCES:
	case EPERM:
		return "no permission for kernel profiling (kernel.perf_event_paranoid, seccomp); "
		       "as root: sysctl kernel.perf_event_paranoid=1";
	case ENOSYS:
	case ENOENT:
		return "this kernel or container offers no perf events";
	default:
		return strerror(-rc);
	}
}

static const struct engine_options *asked;

static int start(const struct engine_options *o, struct buffer *notes, struct error *err)
{
	unsigned limit = os_descriptor_limit(), open = os_descriptors_open();
	int rc = fails(o, "perf") ? -EACCES : probe();
	int signo = signals_choose(o, "cpu", err);

	if (signo < 0)
		return signo;
	asked = o;
	permitted = rc >= 0;
	if (!permitted)
		buffer_printf(notes, "cpu: %s; CPU timers are used instead, without kernel frames\n",
			      why_not(rc));
	descriptors_left = limit / 2 > open ? limit / 2 - open : 0;
	if (fails(o, "fd"))
		descriptors_left = 2;
	return signals_take(signo, handler_thread, err);
}

static void forget_fd(struct thread_record *r)
{
	if (r->fd < 0)
		return;
	atomic_store(&zone.record_of_fd[r->fd], 0);
	close(r->fd);
	r->fd = -1;
	descriptors_left++;
}

static int arm_perf(struct thread_record *r)
{
	pid_t tid = atomic_load(&r->tid);
	int fd, rc;

	if (!permitted || descriptors_left == 0)
		return -EMFILE;
	fd = os_perf_open(tid, zone.interval, true);
	if (fd < 0)
		return fd;
	if (fd >= (int)ZONE_FDS) {
		close(fd);
		return -EMFILE;
	}
	descriptors_left--;
	r->fd = fd;
	r->ring = fails(asked, "ring") ? NULL : os_perf_map(fd);
	r->last_count = 0;
	atomic_store(&zone.record_of_fd[fd], r->index + 1);
	rc = os_perf_signal(fd, tid, zone.signo);
	if (rc) {
		forget_fd(r);
		os_perf_unmap(r->ring);
		r->ring = NULL;
		return rc;
	}
	r->arm = ARM_PERF;
	return 0;
}

static int arm(struct thread_record *r)
{
	int rc = arm_perf(r);

	/* -ESRCH: the thread has ended meanwhile. */
	if (rc && rc != -ESRCH)
		rc = engine_ctimer.arm(r);
	return rc;
}

static void silence(struct thread_record *r)
{
	if (r->arm == ARM_PERF)
		os_perf_disable(r->fd);
	else
		engine_ctimer.silence(r);
}

static void disarm(struct thread_record *r)
{
	if (r->arm != ARM_PERF) {
		engine_ctimer.disarm(r);
		return;
	}
	os_perf_disable(r->fd);
	forget_fd(r);
	os_perf_unmap(r->ring);
	r->ring = NULL;
	r->arm = ARM_NONE;
}

const struct engine_ops engine_perf = {
	.name = "perf", .event = "cpu", .start = start, .arm = arm, .silence = silence,
	.disarm = disarm, .stop = signals_give_back,
};
