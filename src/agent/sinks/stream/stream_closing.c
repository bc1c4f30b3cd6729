#include "agent/sinks/stream/stream_closing.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>

#include "agent/threads/own_thread.h"
#include "common/base/error.h"
#include "common/base/vector.h"
#include "common/os/os.h"

#define LINGER (2 * NS_PER_S)          /* for all that waits */
#define LINGER_BEGUN (NS_PER_S / 4)    /* then, for the rest of a record that the reader has a part of */
#define LOOK_EVERY_MS 10
#define MOST_POLLED 16                 /* the others are looked at as often */

/* A stream on its way out. */
struct closing {
	struct stream_out *out;
	uint64_t until;       /* all that waits; afterwards the begun record for LINGER_BEGUN */
	bool cut;
	uint32_t session;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended;   /* CLOCK_MONOTONIC; one was closed */
static struct {
	VECTOR(struct closing) list;
	bool works, ready;    /* the thread lives; the condition is set up */
	uint32_t session;
	uint64_t lost;
} closing;

/* Lock held. */
static void close_at(size_t i)
{
	struct closing *c = &closing.list.items[i];
	uint64_t lost = stream_out_close(c->out);

	if (c->session == closing.session)
		closing.lost += lost;
	*c = closing.list.items[--closing.list.count];
}

/* What can be written is; who has all, or had his time, is closed. Lock held. */
static void write_pending(uint64_t now)
{
	size_t i = closing.list.count;

	while (i-- > 0) {
		struct closing *c = &closing.list.items[i];

		stream_out_write(c->out);
		if (!c->cut && now >= c->until) {
			stream_out_cut(c->out);
			c->cut = true;
		}
		if (!stream_out_waiting(c->out) || now >= c->until + LINGER_BEGUN)
			close_at(i);
	}
}

/* Until a reader takes more, or a moment. No lock is held: descriptors are closed by this thread only. */
static void rest(struct pollfd *p, nfds_t count)
{
	poll(p, count, LOOK_EVERY_MS);
	/* a reader who is gone, or a socket that takes too little for a record, must not keep us busy */
	if (count)
		os_sleep(NS_PER_MS);
}

static void *run(void *arg)
{
	struct pollfd p[MOST_POLLED + STREAM_POLLS];

	own_thread_begin("jstrobe streams");
	pthread_mutex_lock(&lock);
	for (;;) {
		nfds_t count = 0;
		size_t i;

		write_pending(os_monotonic());
		pthread_cond_broadcast(&ended);
		if (!closing.list.count)
			break;
		for (i = 0; i < closing.list.count && count < MOST_POLLED; i++)
			count += stream_out_polls(closing.list.items[i].out, p + count);
		pthread_mutex_unlock(&lock);
		rest(p, count);
		pthread_mutex_lock(&lock);
	}
	own_thread_end();
	closing.works = false;
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Lock held. */
static int begin_work(void)
{
	pthread_condattr_t attr;
	struct error ignored;
	pthread_t thread;
	int rc;

	if (closing.works)
		return 0;
	if (!closing.ready) {
		pthread_condattr_init(&attr);
		pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
		pthread_cond_init(&ended, &attr);
		pthread_condattr_destroy(&attr);
		closing.ready = true;
	}
	rc = own_thread_start(&thread, run, NULL, "the end of streams", &ignored);
	if (rc)
		return rc;
	pthread_detach(thread);
	closing.works = true;
	return 0;
}

void stream_closing_add(struct stream_out *out)
{
	struct closing *slot;

	if (!out)
		return;
	stream_out_refuse(out);
	stream_out_write(out);
	pthread_mutex_lock(&lock);
	slot = stream_out_waiting(out) && begin_work() == 0 ? VECTOR_PUSH(&closing.list) : NULL;
	if (slot)
		*slot = (struct closing){.out = out, .until = os_monotonic() + LINGER, .session = closing.session};
	else
		closing.lost += stream_out_close(out);
	pthread_mutex_unlock(&lock);
}

bool stream_closing_hurry(uint64_t ns)
{
	uint64_t now = os_monotonic(), end = now + ns;
	/* half of it for all, the rest for begun records */
	uint64_t until = end - (ns / 2 < LINGER_BEGUN ? ns / 2 : LINGER_BEGUN);
	struct timespec ts = {.tv_sec = (time_t)(end / NS_PER_S), .tv_nsec = (long)(end % NS_PER_S)};
	bool none;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < closing.list.count; i++)
		closing.list.items[i].until = MIN(closing.list.items[i].until, until);
	while (closing.works && pthread_cond_timedwait(&ended, &lock, &ts) == 0)
		;
	none = !closing.works;
	pthread_mutex_unlock(&lock);
	return none;
}

void stream_closing_begin(void)
{
	pthread_mutex_lock(&lock);
	closing.session++;
	closing.lost = 0;
	pthread_mutex_unlock(&lock);
}

uint64_t stream_closing_lost(void)
{
	uint64_t lost;

	pthread_mutex_lock(&lock);
	lost = closing.lost;
	pthread_mutex_unlock(&lock);
	return lost;
}
