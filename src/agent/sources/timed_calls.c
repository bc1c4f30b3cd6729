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

/* The stream of the list's number I; NULL: who took it is about to enter it. */
static struct timed_stream *used(const struct timed_calls *c, uint32_t i)
{
	uint32_t place = atomic_load_explicit(&c->used[i], memory_order_acquire);

	return place ? &c->streams[place - 1] : NULL;
}

/* How many there are. */
static uint32_t used_count(struct timed_calls *c)
{
	return c->streams ? MIN(atomic_load_explicit(&c->used_count, memory_order_acquire), THREAD_STREAMS) : 0;
}

bool timed_open(struct timed_calls *c, uint64_t interval)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct timed_stream *streams, *s;
	uint32_t i, count = used_count(c);

	c->used = c->used ? c->used : thread_streams_memory(sizeof(*c->used));
	streams = !c->used || c->streams ? c->streams : thread_streams_memory(sizeof(*streams));
	if (!streams)
		return false;
	pthread_once(&once, calibrate);
	atomic_store(&c->started, timed_now());
	atomic_store(&c->interval, (uint64_t)((double)interval / timed_clock.ns));
	begin(c, &c->shared, 0);
	for (i = 0; i < count; i++) {
		s = used(c, i);
		if (s)
			renew(c, s, atomic_load(&c->started));
	}
	c->streams = streams;
	return true;
}

struct timed_stream *timed_look_further(struct timed_calls *c, uintptr_t tcb)
{
	bool taken = false;
	struct timed_stream *s = thread_stream_find(c->streams, sizeof(*s), tcb, &taken);

	if (!taken)
		return s ? s : &c->shared;
	begin(c, s, tcb);
	if (!s->listed)
		atomic_store_explicit(&c->used[atomic_fetch_add(&c->used_count, 1)], (uint32_t)(s - c->streams) + 1,
				      memory_order_release);
	s->listed = true;
	return s;
}

bool timed_end_slowly(struct timed_calls *c, struct timed_call *call, uint64_t open, unsigned kind, uint64_t bytes)
{
	uint64_t interval = atomic_load_explicit(&c->interval, memory_order_relaxed), spent;
	uint64_t began = MAX(call->began, atomic_load_explicit(&c->started, memory_order_relaxed));
	struct timed_stream *s = call->stream;
	uint64_t whole = call->ended - began;
	int64_t left;

	if (call->ended < began) /* before this session, of which then none of it is */
		return false;
	timed_count(c, s, kind, bytes, whole);
	call->moments = 0;
	call->from = call->began;
	if (open != call->began && s != &c->shared && atomic_load(&s->told_of) == call->began)
		call->from = atomic_load(&s->told_to);
	call->from = MIN(MAX(call->from, began), call->ended);
	spent = call->ended - call->from;
	/* also of a long one of which little is left to be told */
	if (whole >= interval)
		return true;
	left = atomic_load_explicit(&s->left, memory_order_relaxed) - (int64_t)spent;
	for (; left < 0 && interval; call->moments++)
		left += draw(s, interval);
	atomic_store_explicit(&s->left, left, memory_order_relaxed);
	return call->moments;
}

/* ---- calls that go on ---- */

#define TELL_FIRST NS_PER_S
#define TELL_EVERY (10 * NS_PER_S)

/* Whether a call since BEGAN that was told of up to TO is worth to be told of NOW. */
static bool is_old_news(uint64_t began, uint64_t to, uint64_t now)
{
	return timed_ns(now - to) >= MIN(MAX(timed_ns(to - began), TELL_FIRST), TELL_EVERY);
}

static void tell(struct timed_stream *s, uint64_t now, uint64_t least, bool lately, timed_open_fn *fn, void *arg)
{
	uint64_t open = atomic_load(&s->open), what = atomic_load(&s->what);
	uint64_t of = atomic_load(&s->told_of), to = atomic_load(&s->told_to);
	uint64_t began = of && open == to ? of : open;

	if (!open || now <= open || now - open < least || (lately && !is_old_news(began, open, now)) ||
	    atomic_load(&s->open) != open)
		return;
	/* Who ends the call sees that its time was told of, or it is not. */
	atomic_store(&s->told_of, began);
	atomic_store(&s->told_to, now);
	if (atomic_compare_exchange_strong(&s->open, &open, now)) {
		if (fn(atomic_load(&s->tcb), what, began, open, now, arg))
			return;
		/* the next time is told of it from there on */
		atomic_compare_exchange_strong(&s->open, &now, open);
	}
	atomic_store(&s->told_to, to);
	atomic_store(&s->told_of, of);
}

void timed_tell_open(struct timed_calls *c, uint64_t least, bool lately, timed_open_fn *fn, void *arg)
{
	uint64_t now = timed_now();
	uint32_t i, count = used_count(c);

	for (i = 0; i < count; i++) {
		struct timed_stream *s = used(c, i);

		if (s && atomic_load_explicit(&s->open, memory_order_relaxed))
			tell(s, now, (uint64_t)((double)least / timed_clock.ns), lately, fn, arg);
	}
}

/* ---- sums ---- */

static void add_sum(struct timed_sum *from, struct timed_total *to, uint64_t *ticks)
{
	to->calls += atomic_load_explicit(&from->calls, memory_order_relaxed);
	to->bytes += atomic_load_explicit(&from->bytes, memory_order_relaxed);
	*ticks += atomic_load_explicit(&from->ticks, memory_order_relaxed);
}

/* The ticks of the call of KIND that goes on in S, if there is one. */
static uint64_t so_far(struct timed_calls *c, struct timed_stream *s, unsigned kind, uint64_t now)
{
	uint64_t of = atomic_load(&s->told_of), to = atomic_load(&s->told_to), open = atomic_load(&s->open);
	uint64_t began = MAX(of && open == to ? of : open, atomic_load(&c->started));

	return open && now > began && atomic_load(&s->what) >> 32 == kind && atomic_load(&s->open) == open ?
		       now - began : 0;
}

struct timed_total timed_total(struct timed_calls *c, unsigned kind)
{
	uint32_t i, count = used_count(c);
	struct timed_total total = {0};
	bool on = atomic_load(&c->on);
	uint64_t ticks = 0, now = timed_now();

	add_sum(&c->shared.sums[kind], &total, &ticks);
	for (i = 0; i < count; i++) {
		struct timed_stream *s = used(c, i);

		if (!s)
			continue;
		add_sum(&s->sums[kind], &total, &ticks);
		ticks += on ? so_far(c, s, kind, now) : 0;
	}
	total.ns = timed_ns(ticks);
	return total;
}

void timed_halt(struct timed_calls *c)
{
	uint32_t i, kind, count = used_count(c);
	uint64_t now = timed_now();

	if (!atomic_exchange(&c->on, false))
		return;
	for (i = 0; i < count; i++) {
		struct timed_stream *s = used(c, i);

		for (kind = 0; s && atomic_load(&s->open) && kind < TIMED_KINDS; kind++)
			atomic_fetch_add(&c->shared.sums[kind].ticks, so_far(c, s, kind, now));
	}
}
