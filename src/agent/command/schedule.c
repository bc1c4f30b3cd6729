#include "agent/command/schedule.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/command/command.h"
#include "agent/command/control_thread.h"
#include "common/os/os.h"

static struct {
	pthread_mutex_t lock;              /* a leaf: the times */
	struct options_moment round, end;  /* 0: there is none */
	struct options options;            /* of each round */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ns until M, 0 = it has come. */
static uint64_t left_until(const struct options_moment *m)
{
	uint64_t now = m->by_clock ? os_realtime() : os_monotonic();

	return m->at > now ? m->at - now : 0;
}

/* ns until something is due, 0 = now; UINT64_MAX = nothing is. */
static uint64_t left(void)
{
	uint64_t round, end;

	pthread_mutex_lock(&state.lock);
	round = state.round.at ? left_until(&state.round) : UINT64_MAX;
	end = state.end.at ? left_until(&state.end) : UINT64_MAX;
	pthread_mutex_unlock(&state.lock);
	return MIN(round, end);
}

/* TEXT as a moment, counted from NOW (os_monotonic) where it is a length. */
static struct options_moment moment(const char *text, uint64_t now)
{
	struct options_moment m = {0};

	if (text[0])
		options_moment(text, os_realtime(), now, &m);
	return m;
}

static void set(struct options_moment round, struct options_moment end)
{
	pthread_mutex_lock(&state.lock);
	state.round = round;
	state.end = end;
	pthread_mutex_unlock(&state.lock);
}

static bool is_set(void)
{
	return left() != UINT64_MAX;
}

/* Do what is due, if anything is. */
static void due(void *unused)
{
	struct options_moment end = state.end;
	bool last = !state.round.at || (end.at && left_until(&end) == 0);
	uint64_t began;

	if (left())
		return;
	if (!command_round(&state.options, last, &began)) {
		schedule_end();
		return;
	}
	/* the round has begun before the result of the one before was written */
	set(moment(state.options.loop, began), end);
}

static const struct control_alarm clock_alarm = {
	.name = "timer", .attached = true, .is_set = is_set, .left = left, .run = due,
};

/* A regular file, or nothing yet: where a stream begins it puts a new file there. */
static bool is_file(const char *stream)
{
	struct stat st;

	return stream[0] && strncmp(stream, "unix:", 5) != 0 && strncmp(stream, "fd:", 3) != 0 &&
	       (stat(stream, &st) ? errno == ENOENT : S_ISREG(st.st_mode));
}

int schedule_check(const struct options *o, bool has_place, struct error *err)
{
	if (o->loop[0] && o->fdtransfer)
		return error_set(err, EINVAL, "loop does not go together with fdtransfer: each round is a "
				 "session of its own, and a command opens perf events for one");
	if (o->loop[0] && !has_place)
		return error_set(err, EINVAL, "loop: the results have no file; give "
				 "file=FILE (-f FILE) with %%n or %%t in its name");
	if (o->loop[0] && is_file(o->stream))
		return error_set(err, EINVAL, "loop does not go together with a stream to a file: each round is a "
				 "session of its own, and its stream would take the place of what rounds before it "
				 "told; stream to a FIFO, unix:PATH or fd:N");
	return 0;
}

void schedule_end(void)
{
	set((struct options_moment){0}, (struct options_moment){0});
}

int schedule_begin(const struct options *o, struct error *err)
{
	uint64_t now = os_monotonic();

	schedule_end();
	if (!o->timeout[0] && !o->loop[0])
		return 0;
	state.options = *o;
	state.options.action = ACTION_START;
	set(moment(o->loop, now), moment(o->timeout, now));
	return control_wake(&clock_alarm, err);
}
