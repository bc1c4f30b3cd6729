#include "agent/sources/timed_calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "agent/zone/jitter.h"
#include "common/base/random.h"
#include "common/os/os.h"

#define CALIBRATED (10 * NS_PER_MS) /* an error of 50 ns at each end is 10 in a million then */
#define TRIES 8

struct timed_clock timed_clock = {.ns = 1};

/* ---- the clock ---- */

/* Both clocks at one moment, as well as can be. */
static void both(uint64_t *cycles, uint64_t *ns)
{
	uint64_t least = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = CPU_CYCLES, now = os_monotonic(), after = CPU_CYCLES;

		if (after - before >= least)
			continue;
		least = after - before;
		*cycles = before + (after - before) / 2;
		*ns = now;
	}
}

/* Whether the kernel's own clock is made of the CPU's counter: it is the same on all CPUs then, and steady. */
static bool kernel_counts_cycles(void)
{
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	char word[32] = "";
	ssize_t n = fd < 0 ? 0 : read(fd, word, sizeof(word) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && (strcmp(word, "tsc\n") == 0 || strcmp(word, "kvm-clock\n") == 0 ||
			 strcmp(word, "hyperv_clocksource_tsc_page\n") == 0);
}

static void calibrate(void)
{
	uint64_t cycles[2] = {0}, ns[2] = {0};

	if (!CPU_CYCLES || !kernel_counts_cycles())
		return;
	both(&cycles[0], &ns[0]);
	do {
		struct timespec rest = {0, (long)CALIBRATED};

		nanosleep(&rest, NULL);
		both(&cycles[1], &ns[1]);
	} while (ns[1] - ns[0] < CALIBRATED);
	if (cycles[1] <= cycles[0])
		return;
	timed_clock.ns = (double)(ns[1] - ns[0]) / (double)(cycles[1] - cycles[0]);
	timed_clock.cycles = true;
}

/* ---- streams ---- */

/* The next moment of S is so much further. */
static int64_t draw(struct timed_stream *s, uint64_t interval)
{
	return jitter_distance(&s->seed, interval) + 1;
}

static void begin(const struct timed_calls *c, struct timed_stream *s, uintptr_t word)
{
	uint64_t interval = atomic_load(&((struct timed_calls *)c)->interval);

	s->seed = random_seed(os_monotonic() ^ hash_mix(word));
	atomic_store(&s->left, draw(s, interval));
	atomic_store(&s->told_of, 0);
}

/*
 * A session begins: what a stream has been used for is over, but a call that goes on, which is this session's from NOW
 * on. Who has come to it by the session before and not begun its call yet may write to it: a moment more or less.
 */
static void renew(struct timed_calls *c, struct timed_stream *s, uint64_t now)
{
	uint64_t open = atomic_load(&s->open);
	uintptr_t tcb = atomic_load(&s->tcb);

	if (!tcb)
		return;
	begin(c, s, tcb);
	if (!open || !atomic_compare_exchange_strong(&s->open, &open, now))
		atomic_store(&s->tcb, 0);
}

bool timed_open(struct timed_calls *c, uint64_t interval)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct timed_stream *streams = c->streams ? c->streams : thread_streams_memory(sizeof(*streams));
	uint32_t i;

	if (!streams)
		return false;
	pthread_once(&once, calibrate);
	atomic_store(&c->started, timed_now());
	atomic_store(&c->interval, (uint64_t)((double)interval / timed_clock.ns));
	begin(c, &c->shared, 0);
	for (i = 0; c->streams && i < THREAD_STREAMS; i++)
		renew(c, &streams[i], atomic_load(&c->started));
	c->streams = streams;
	return true;
}

struct timed_stream *timed_look_further(struct timed_calls *c, uintptr_t tcb)
{
	bool taken = false;
	struct timed_stream *s = thread_stream_find(c->streams, sizeof(*s), tcb, &taken);

	if (taken)
		begin(c, s, tcb);
	return s ? s : &c->shared;
}

bool timed_end_slowly(struct timed_calls *c, struct timed_call *call, uint64_t open)
{
	uint64_t interval = atomic_load_explicit(&c->interval, memory_order_relaxed), spent;
	struct timed_stream *s = call->stream;
	int64_t left;

	call->moments = 0;
	call->from = call->began;
	if (open != call->began && s != &c->shared && atomic_load(&s->told_of) == call->began)
		call->from = atomic_load(&s->told_to);
	call->from = MAX(call->from, atomic_load_explicit(&c->started, memory_order_relaxed));
	spent = call->ended > call->from ? call->ended - call->from : 0;
	if (spent >= interval)
		return true;
	left = atomic_load_explicit(&s->left, memory_order_relaxed) - (int64_t)spent;
	for (; left < 0 && interval; call->moments++)
		left += draw(s, interval);
	atomic_store_explicit(&s->left, left, memory_order_relaxed);
	return call->moments;
}

/* ---- calls that go on ---- */

static void tell(struct timed_stream *s, uint64_t now, uint64_t least, timed_open_fn *fn, void *arg)
{
	uint64_t open = atomic_load(&s->open), what = atomic_load(&s->what);
	uint64_t of = atomic_load(&s->told_of), to = atomic_load(&s->told_to);
	uint64_t began = of && open == to ? of : open;

	if (!open || now <= open || now - open < least || atomic_load(&s->open) != open)
		return;
	/* Who ends the call sees that its time was told of, or it is not. */
	atomic_store(&s->told_of, began);
	atomic_store(&s->told_to, now);
	if (atomic_compare_exchange_strong(&s->open, &open, now) &&
	    fn(atomic_load(&s->tcb), what, began, open, now, arg))
		return;
	atomic_store(&s->told_to, to);
	atomic_store(&s->told_of, of);
}

void timed_tell_open(struct timed_calls *c, uint64_t least, timed_open_fn *fn, void *arg)
{
	uint64_t now = timed_now();
	uint32_t i;

	for (i = 0; c->streams && i < THREAD_STREAMS; i++)
		if (atomic_load_explicit(&c->streams[i].open, memory_order_relaxed))
			tell(&c->streams[i], now, (uint64_t)((double)least / timed_clock.ns), fn, arg);
}
