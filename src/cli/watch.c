#include "cli/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/base/clean.h"
#include "common/os/os.h"

#define COMPUTES_MS 3000 /* a main thread that computes will look at its signals in the end */
#define STEP_MS 50
#define TELL_MS 1000

static struct {
	int changed;  /* an eventfd: there is something new to look at; -1: no thread */
	int signals;  /* a signalfd; -1: none are watched */
	pid_t main;
	pthread_mutex_t lock; /* for: */
	uint64_t until;       /* ns; 0: no step */
	unsigned ms;
	bool told;            /* a terminal sees what is being done */
	char what[200];
	void (*_Atomic restore)(void);
} watch = {.changed = -1, .signals = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

/*
 * The thread takes no memory before its end: the command makes children by clone (survey.c), which must not find the
 * allocator locked.
 */

/* Say TEXT and end, whatever the other thread holds: no stdio, and no waiting for a terminal that stands still. */
static void end(int status, const char *text)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
	void (*restore)(void) = atomic_load(&watch.restore);
	struct buffer line = BUFFER_INIT;

	if (restore)
		restore();
	buffer_puts(&line, "jstrobe: ");
	clean_name(&line, text);
	buffer_putc(&line, '\n');
	if (!line.failed && poll(&p, 1, 0) > 0 && write(STDERR_FILENO, line.data, line.length) < 0)
		_exit(status);
	_exit(status);
}

/* Whether the main thread runs, or would if it had a CPU. */
static bool computes(void)
{
	char path[64], text[256];
	const char *state;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)watch.main);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[MAX(n, (ssize_t)0)] = '\0';
	state = strrchr(text, ')');
	return state && strncmp(state, ") R", 3) == 0;
}

/* A signal has come. Wait until it is read, or for too long. */
static void await_reader(void)
{
	struct pollfd p = {.fd = watch.signals, .events = POLLIN};
	uint64_t since = os_monotonic(), waited = 0;
	char text[300];

	while (waited < WATCH_MS || (waited < COMPUTES_MS && computes())) {
		poll(NULL, 0, STEP_MS);
		if (poll(&p, 1, 0) == 0)
			return;
		waited = (os_monotonic() - since) / NS_PER_MS;
	}
	pthread_mutex_lock(&watch.lock);
	snprintf(text, sizeof(text), "aborted%s%s", watch.until ? " while " : "", watch.until ? watch.what : "");
	pthread_mutex_unlock(&watch.lock);
	end(CLI_ABORTED, text);
}

/* What takes so long, for a terminal that takes it at once; a step of less than a second is none. Locked. */
static void tell(uint64_t at)
{
	uint64_t began = watch.until - watch.ms * NS_PER_MS;
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
	char line[300], clean[sizeof(watch.what)];
	size_t i;

	if (!console_shows_progress() || at < began + NS_PER_S)
		return;
	/* names in it may be anything */
	for (i = 0; watch.what[i]; i++)
		clean[i] = (unsigned char)watch.what[i] < ' ' || watch.what[i] == 127 ? '?' : watch.what[i];
	clean[i] = '\0';
	snprintf(line, sizeof(line), "\r\033[K%s: %llu s", clean, (unsigned long long)((at - began) / NS_PER_S));
	console_progress_noted();
	watch.told = true;
	if (poll(&p, 1, 0) > 0 && write(STDERR_FILENO, line, strlen(line)) < 0)
		watch.told = false;
}

/*
 * How long to wait until the present step is looked at again, in ms; -1: there is none. Ends the command when the time
 * of the step is over.
 */
static int time_left(void)
{
	char text[400];
	uint64_t at = os_monotonic();
	int left = -1;

	pthread_mutex_lock(&watch.lock);
	if (watch.until && watch.until <= at) {
		snprintf(text, sizeof(text), "%s took longer than %u s: its memory map is locked, or a file system of "
			 "it does not answer", watch.what, watch.ms / 1000);
		end(CLI_CANNOT_ATTACH, text);
	}
	if (watch.until) {
		left = (int)((watch.until - at) / NS_PER_MS) + 1;
		left = MIN(left, TELL_MS);
		tell(at);
	}
	pthread_mutex_unlock(&watch.lock);
	return left;
}

static void *run(void *unused)
{
	struct pollfd p[2] = {{.fd = watch.changed, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
	uint64_t count;

	prctl(PR_SET_NAME, "jstrobe watch");
	for (;;) {
		p[1].fd = watch.signals;
		poll(p, 2, time_left());
		if (p[0].revents && read(watch.changed, &count, sizeof(count)) < 0)
			continue;
		if (p[1].revents)
			await_reader();
		p[0].revents = p[1].revents = 0;
	}
	return NULL;
}

/* Start the thread, which gets no signals. Without it the command works, but does not end itself. */
static void start(void)
{
	sigset_t all, former;
	pthread_attr_t attr;
	pthread_t thread;

	if (watch.changed >= 0)
		return;
	watch.main = getpid();
	watch.changed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch.changed < 0 || pthread_attr_init(&attr))
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &former);
	pthread_create(&thread, &attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &former, NULL);
	pthread_attr_destroy(&attr);
}

static void wake(void)
{
	eventfd_write(watch.changed, 1);
}

void watch_signals(const sigset_t *signals)
{
	int fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);

	if (fd < 0)
		return;
	if (watch.signals >= 0)
		close(fd);
	else
		watch.signals = fd;
	start();
	wake();
}

void watch_begin(unsigned ms, const char *what, ...)
{
	va_list args;

	start();
	va_start(args, what);
	pthread_mutex_lock(&watch.lock);
	vsnprintf(watch.what, sizeof(watch.what), what, args);
	watch.ms = ms;
	watch.until = os_monotonic() + ms * NS_PER_MS;
	pthread_mutex_unlock(&watch.lock);
	va_end(args);
	wake();
}

void watch_end(void)
{
	pthread_mutex_lock(&watch.lock);
	watch.until = 0;
	if (watch.told)
		console_progress_end();
	watch.told = false;
	pthread_mutex_unlock(&watch.lock);
}

void watch_restores(void (*restore)(void))
{
	atomic_store(&watch.restore, restore);
}
