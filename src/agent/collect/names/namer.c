/*
 * namer.c - native and kernel frames get their names before the aggregate is made anew. Until then each address is a
 * frame of its own, and each way to it a stack: carried over like that, an aggregate would grow with the addresses that
 * samples have met, of which there are many, and not with the functions.
 *
 * Symbol tables take long to read, so a thread of ours does it, which is there only meanwhile.
 */
#include "agent/collect/collector_state.h"
#include "agent/collect/names/late_names.h"

#include "agent/threads/own_thread.h"
#include "common/os/os.h"

#define MANY 1000          /* frames without names, below which it is not worth it */
#define LOOK_UP_SHARE 500  /* looking names up may take this part of the time */

static void *run(void *arg)
{
	struct collector *c = arg;

	own_thread_begin("jstrobe names");
	atomic_store(&c->namer.tid, os_gettid());
	pthread_mutex_lock(&c->images);
	pthread_mutex_lock(&c->lock);
	late_look_up(c, false);
	c->namer.pause = (os_monotonic() - c->namer.began) * LOOK_UP_SHARE;
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&c->images);
	own_thread_end();
	atomic_store(&c->namer.done, true);
	return NULL;
}

bool namer_works(struct collector *c)
{
	struct namer *n = &c->namer;
	uint64_t now = os_monotonic();
	struct error ignored;

	if (n->started && !atomic_load(&n->done))
		return true;
	if (n->started)
		own_thread_join(n->thread, OWN_THREAD_PATIENCE);
	n->started = false;
	if (n->began && now - n->began < n->pause)
		return false;
	if (c->frames.late.count < MANY)
		return false;
	n->began = now;
	atomic_store(&n->done, false);
	atomic_store(&n->tid, 0);
	n->started = own_thread_start(&n->thread, run, c, "names", &ignored) == 0;
	return n->started;
}

bool namer_end(struct collector *c)
{
	struct namer *n = &c->namer;

	if (n->started && !own_thread_join_busy(n->thread, &n->tid))
		return false;
	n->started = false;
	return true;
}
