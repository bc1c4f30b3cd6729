/*
 * perf.c - a perf event a thread. For `cpu` a CPU timer for each thread that gets none
 * (permission, descriptors), for all of them without kernel permission (an event that counts
 * user time only would hide all kernel time). Other events have nothing to fall back to: they
 * are refused with the reason, or, where they make sense so, counted in user mode only.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/sample/handler.h"
#include "agent/sample/perf_ring.h"
#include "agent/sample/perf_samples.h"
#include "agent/sources/active.h"
#include "agent/sources/cpu/perf_transfer.h"
#include "agent/sources/engine.h"
#include "agent/threads/closers.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/base/knob.h"
#include "common/os/os.h"

static bool permitted[RECORD_EVENTS];
static unsigned descriptors_left; /* at most half of the limit is used */

/* Records' lock. */
static void close_event(int fd, const struct engine_event *event)
{
	if (event->path[0]) {
		closers_take(fd);
		return;
	}
	close(fd);
	descriptors_left++;
}

/* Probes need files of this process, and rights in it: those are not asked for elsewhere. */
static bool is_served(const struct engine_event *event)
{
	return transfer_serves() && !event->path[0] && !event->filter[0];
}

static int open_event(pid_t tid, const struct engine_event *event, uint64_t period)
{
	struct os_perf spec = event->perf;

	spec.period = period;
	spec.only_cpu = event->role == WINDOW_NONE ? active_options()->only_cpu : 0;
	spec.path = event->path[0] ? event->path : NULL;
	spec.filter = event->filter[0] ? event->filter : NULL;
	return is_served(event) ? transfer_open(tid, &spec) : os_perf_open(tid, &spec);
}

static bool fails(const char *part)
{
	return KNOB(strcmp(active_options()->fail, part) == 0);
}

static int probe(const struct engine_event *event)
{
	int fd = fails("perf") ? -EACCES : open_event(os_gettid(), event, event->interval);

	if (fd >= 0)
		close(fd);
	return MIN(fd, 0);
}

static int refuse(const struct engine_event *event, int rc, struct error *err)
{
	uint32_t type = event->perf.type;
	bool counter = type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;

	switch (-rc) {
	case EACCES:
	case EPERM:
		if (event->path[0])
			return error_set(err, -rc, "%s: probes need the capability CAP_PERFMON (or "
						 "CAP_SYS_ADMIN) in the "
					 "profiled process", event->name);
		return error_set(err, -rc, "%s: no permission: kernel.perf_event_paranoid is %d, or seccomp forbids "
				 "perf_event_open; as root: sysctl kernel.perf_event_paranoid=%d", event->name,
				 os_perf_paranoid(), type == PERF_TYPE_TRACEPOINT ? -1 :
				 type == PERF_TYPE_BREAKPOINT ? 2 : 1);
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		if (counter)
			return error_set(err, -rc, "%s: this machine (or virtual machine) has no such hardware "
					 "counter; `jstrobe list PID` shows what there is", event->name);
		break;
	case ENOSPC:
		if (type == PERF_TYPE_BREAKPOINT)
			return error_set(err, -rc, "%s: no hardware breakpoint is free (a CPU has 4; a "
						 "debugger may hold "
					 "them)", event->name);
		break;
	case EINVAL:
		if (event->filter[0])
			return error_set(err, -rc, "%s: the kernel does not accept this event or its "
						 "filter", event->name);
		break;
	}
	return error_set(err, -rc, "%s: the kernel refuses this event: %s", event->name, error_text(-rc));
}

void active_count_descriptors(void)
{
	unsigned limit = os_descriptor_limit(), open = os_descriptors_open();

	descriptors_left = limit / 2 > open ? limit / 2 - open : 0;
	if (fails("fd"))
		descriptors_left = 2;
}

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	int rc;

	event->perf.kernel = !active_options()->user_only && event->role == WINDOW_NONE;
	if (event->kernel_only && !event->perf.kernel)
		return error_set(err, EINVAL, "alluser: %s happens in the kernel only", event->name);
	if (active_options()->only_cpu)
		event->fallback = false;
	if (active_options()->only_cpu > os_cpus())
		return error_set(err, EINVAL, "target-cpu: this machine has CPUs 0 to %u", os_cpus() - 1);
	rc = probe(event);
	if (event->perf.kernel && (rc == -EACCES || rc == -EPERM) && !event->fallback &&
	    !event->kernel_only && !weight_is_time(event->weight)) {
		event->perf.kernel = false;
		if (probe(event) == 0) {
			rc = 0;
			buffer_printf(notes, "%s: no permission for the kernel: events in user mode "
						 "only, without kernel "
				      "frames; as root: sysctl kernel.perf_event_paranoid=1\n", event->name);
		}
	}
	permitted[e] = rc == 0;
	if (rc && !event->fallback)
		return refuse(event, rc, err);
	if (event->perf.type == PERF_TYPE_BREAKPOINT && event->role == WINDOW_NONE)
		buffer_printf(notes, "%s: a breakpoint stops its thread for microseconds at each call or access, "
			      "also at those without a sample: what is called often runs slower\n", event->name);
	if (rc)
		buffer_printf(notes, "cpu: %s; CPU timers are used instead, without kernel frames\n",
			      os_perf_refusal(rc));
	return 0;
}

static void forget_fd(struct record_source *s, uint32_t e)
{
	if (s->fd < 0)
		return;
	atomic_store(&zone.record_of_fd[s->fd], 0);
	close_event(s->fd, active_event(e));
	s->fd = -1;
}

/* ---- rings ---- */

/*
 * What comes while a thread is in the kernel waits in its ring: some 30 kernel stacks a page of 4 KB. Four pages for
 * the threads that come first, one for the others; at most 2 MB in all, and a quarter of what may be locked.
 */
#define RING_LARGE (16u << 10)
#define RINGS_LARGE (2u << 20)

static size_t large_left; /* bytes of large rings that may be made yet; records' lock */

void active_count_rings(void)
{
	large_left = (size_t)MIN(os_perf_memory() / 4, (uint64_t)RINGS_LARGE);
}

static bool is_large(size_t data)
{
	return data > os_perf_data_bytes(0);
}

static void *map_ring(int fd)
{
	size_t large = os_perf_data_bytes(RING_LARGE);
	void *ring = is_large(large) && large <= large_left ? os_perf_map(fd, large) : NULL;

	if (ring)
		large_left -= large;
	return ring ? ring : os_perf_map(fd, 0);
}

static void unmap_ring(struct record_source *s)
{
	size_t data = os_perf_unmap(s->ring);

	if (is_large(data))
		large_left += data;
	s->ring = NULL;
}

/* ---- threads ---- */

/*
 * A period that has ended is gone through again until the thread comes back from the kernel: a very short one would
 * make it slow there.
 */
#define FIRST_LEAST (50 * NS_PER_US)

static void set_period(struct record_source *s, uint32_t e, pid_t tid)
{
	uint64_t interval = active_event(e)->interval, first;

	s->period = interval;
	if (!zone.events[e].varies)
		return;
	first = jitter_begin(&s->jitter, os_monotonic() ^ (uint64_t)tid << 32, interval);
	s->period = MAX(first, MIN(FIRST_LEAST, interval / 2));
}

/*
 * Where a thread blocks SIGTRAP our handler (agent/zone/trap.h) does not run. A thread that is just made blocks all
 * signals for a moment: it is asked again each second, and only then said (a session that begins asks twice).
 */
static bool blocks_traps(struct record_source *s, uint32_t e, pid_t tid)
{
	if (active_event(e)->perf.type != PERF_TYPE_BREAKPOINT || !os_thread_blocks(tid, SIGTRAP))
		return false;
	if (s->blocked++ >= 2)
		shortfall_note(SHORTFALL_BLOCKED, -EPERM);
	return true;
}

static int arm_perf(struct thread_record *r, uint32_t e)
{
	struct record_source *s = &r->sources[e];
	pid_t tid = atomic_load(&r->tid);
	int fd, rc;

	descriptors_left += closers_done();
	if (!permitted[e] || descriptors_left == 0)
		return -EMFILE;
	if (tid == os_gettid() && is_served(active_event(e))) {
		transfer_wait(tid);
		return -EAGAIN;
	}
	if (blocks_traps(s, e, tid))
		return -EAGAIN;
	set_period(s, e, tid);
	fd = open_event(tid, active_event(e), s->period);
	if (fd < 0)
		return fd;
	if (fd >= (int)ZONE_FDS) {
		close(fd);
		return -EMFILE;
	}
	descriptors_left--;
	s->fd = fd;
	/* A breakpoint that brings no samples needs no room for them. */
	s->ring = fails("ring") || active_event(e)->role != WINDOW_NONE ? NULL : map_ring(fd);
	if (!s->ring && active_event(e)->role == WINDOW_NONE)
		shortfall_note(SHORTFALL_RING, -EPERM);
	s->last_count = 0;
	s->burst = s->rests = 0;
	atomic_store(&s->rests_until, 0);
	s->burst_began = os_monotonic();
	s->burst_cpu = os_thread_cpu(tid);
	atomic_store(&zone.record_of_fd[fd], zone_fd_word(r->index, e));
	rc = os_perf_signal(fd, tid, zone.signo);
	if (rc) {
		forget_fd(s, e);
		unmap_ring(s);
		return rc;
	}
	/* Only now: a handler for another event looks at sources that are armed. */
	atomic_store_explicit(&s->arm, ARM_PERF, memory_order_release);
	return 0;
}

static enum shortfall shortfall_of(const struct engine_event *event)
{
	if (event->role != WINDOW_NONE)
		return SHORTFALL_BREAKPOINT;
	return event->fallback ? SHORTFALL_PERF : SHORTFALL_EVENT;
}

static int arm(struct thread_record *r, uint32_t e)
{
	int rc = arm_perf(r, e);

	/* -ESRCH: the thread has ended meanwhile. -EAGAIN: another thread is about to arm it. */
	if (rc == 0 || rc == -ESRCH || rc == -EAGAIN)
		return rc;
	if (permitted[e])
		shortfall_note(shortfall_of(active_event(e)), rc);
	return active_event(e)->fallback ? engine_ctimer.arm(r, e) : rc;
}

static void silence(struct thread_record *r, uint32_t e)
{
	if (atomic_load(&r->sources[e].arm) == ARM_PERF)
		os_perf_disable(r->sources[e].fd);
	else
		engine_ctimer.silence(r, e);
}

static void disarm(struct thread_record *r, uint32_t e, bool at_work)
{
	struct record_source *s = &r->sources[e];
	bool scaled = active_event(e)->perf.scaled;
	uint64_t words[3] = {0, 0, 0};
	uint32_t arm = atomic_load(&s->arm);

	if (arm != ARM_PERF && arm != ARM_LEAVING) {
		engine_ctimer.disarm(r, e, at_work);
		return;
	}
	if (arm == ARM_PERF) {
		/* A program that closes all descriptors has files of its own under these numbers now: left alone. */
		if (os_perf_disable(s->fd)) {
			atomic_store(&zone.record_of_fd[s->fd], 0);
			s->fd = -1;
		}
		if (s->fd >= 0 && os_perf_read(s->fd, scaled, words))
			active_counted(e, scaled ? perf_scaled(words[0], words[1], words[2]) : words[0]);
	}
	if (at_work) {
		atomic_store(&s->arm, ARM_LEAVING);
		return;
	}
	perf_lose_rest(r, e, active_rest_why(arm));
	forget_fd(s, e);
	unmap_ring(s);
	atomic_store(&s->arm, ARM_NONE);
}

static bool has_rest(const struct thread_record *r, uint32_t e)
{
	uint32_t arm = atomic_load(&((struct thread_record *)r)->sources[e].arm);

	return arm == ARM_PERF ? perf_has_rest(r, e) : engine_ctimer.has_rest(r, e);
}

static void stop(void)
{
	closers_end();
}

const struct engine_ops engine_perf = {
	.name = "perf", .handler = handler_thread, .start = start, .arm = arm, .silence = silence,
	.has_rest = has_rest, .disarm = disarm, .stop = stop,
};
