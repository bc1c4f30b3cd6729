/*
 * Calls that read and write: which are seen, what is kept of the caller's, what samples stand for, what goes on, and what
 * descriptors lead to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/sources/io/io_hooks.h"
#include "agent/sources/io/io_targets.h"
#include "common/os/os.h"
#include "harness.h"
#include "lib_io.h"

static const struct io_slots *slots;
static void *library;

static void load(void)
{
	io_slots_fn *get;

	library = harness_library("lib_io.so");
	assert_non_null(library);
	get = (io_slots_fn *)dlsym(library, "io_slots");
	assert_non_null(get);
	slots = get();
}

/* What came last from the thread that tests, and the sums of all. */
static pthread_t tested;
static _Atomic uint64_t seen, weight, bytes;
static struct io_call last;
static uint64_t last_ns;

static void remember(const struct timed_call *call, const struct io_call *what, const struct walk_caller *from)
{
	if (!pthread_equal(tested, pthread_self()))
		return;
	last = *what;
	last_ns = timed_length(call);
	atomic_fetch_add(&seen, 1);
	atomic_fetch_add(&weight, timed_weight(&io_calls, call));
	if (what->result > 0)
		atomic_fetch_add(&bytes, (uint64_t)what->result);
	errno = ESTALE; /* the hook keeps the caller's */
}

static void begin(uint64_t interval)
{
	load();
	tested = pthread_self();
	assert_true(io_targets_open() && timed_open(&io_calls, interval));
	assert_true(io_hooks_install(remember));
	seen = weight = bytes = 0;
}

static void end(void)
{
	io_hooks_remove();
	dlclose(library);
}

static void one(enum io_operation operation, int fd, int64_t result, const char *what)
{
	if (seen != 1 || last.operation != operation || last.fd != fd || last.result != result || errno != EDOM)
		fail_msg("%s: %llu seen, %d on %d, %lld, errno %d", what, (unsigned long long)seen, last.operation,
			 last.fd, (long long)last.result, errno);
	seen = 0;
}

static void each_function(void **state)
{
	char path[] = "/tmp/test_sources_io_XXXXXX", room[100] = "";
	struct iovec parts[2] = {{room, 3}, {room + 3, 4}};
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};
	int ends[2], fd = mkstemp(path), other;

	assert_true(fd >= 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	begin(0);
	errno = EDOM;
	assert_int_equal(slots->write(fd, "hello", 5), 5);
	one(IO_WRITE, fd, 5, "write");
	assert_int_equal(slots->pwrite(fd, "hello", 4, 0), 4);
	one(IO_WRITE, fd, 4, "pwrite");
	assert_int_equal(slots->pread(fd, room, 100, 1), 4);
	one(IO_READ, fd, 4, "pread");
	assert_int_equal(slots->read(fd, room, 100), 0);
	one(IO_READ, fd, 0, "read");
	assert_int_equal(slots->writev(fd, parts, 2), 7);
	one(IO_WRITE, fd, 7, "writev");
	assert_int_equal(slots->readv(fd, parts, 2), 0);
	one(IO_READ, fd, 0, "readv");
	assert_int_equal(last.wanted, 7);
	assert_int_equal(slots->fsync(fd), 0);
	one(IO_SYNC, fd, 0, "fsync");
	assert_int_equal(slots->sendto(ends[0], "abc", 3, 0, NULL, 0), 3);
	one(IO_WRITE, ends[0], 3, "sendto");
	assert_int_equal(slots->recvfrom(ends[1], room, 100, 0, NULL, NULL), 3);
	one(IO_READ, ends[1], 3, "recvfrom");
	assert_int_equal(slots->sendmsg(ends[0], &m, 0), 7);
	one(IO_WRITE, ends[0], 7, "sendmsg");
	assert_int_equal(slots->recvmsg(ends[1], &m, 0), 7);
	one(IO_READ, ends[1], 7, "recvmsg");
	other = slots->open(path, O_RDONLY | O_CLOEXEC, 0);
	one(IO_OPEN, other, 0, "open");
	close(other);
	other = slots->open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(other, -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(last.fd, -1);
	assert_string_equal(last.path, path);
	assert_int_equal(slots->read(-1, room, 1), -1);
	assert_int_equal(errno, EBADF);
	end();
	seen = 0;
	close(fd);
	unlink(path);
	close(ends[0]);
	close(ends[1]);
}

/* A file that is made by open has the mode that was asked for, with the hook as without it. */
static void mode_is_passed_on(void **state)
{
	char path[] = "/tmp/test_sources_io_mode_XXXXXX";
	struct stat st;
	int fd = mkstemp(path);

	close(fd);
	unlink(path);
	begin(NS_PER_S);
	fd = slots->open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	end();
	close(fd);
	unlink(path);
}

/* ---- what comes between ---- */

static void on_signal(int signo)
{
	char c;

	if (slots->read(-1, &c, 1) != -1)
		abort();
}

static int pipe_ends[2];

/* Once the first thread has waited in its read for 50 ms; who may not see that takes it to wait. */
static void *interrupt(void *arg)
{
	char path[64], now[64];
	long call;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", getpid());
	do {
		FILE *f = fopen(path, "r");

		usleep(1000);
		if (!f || !fgets(now, sizeof(now), f))
			snprintf(now, sizeof(now), "%d", SYS_read);
		if (f)
			fclose(f);
	} while (sscanf(now, "%ld", &call) != 1 || call != SYS_read);
	usleep(50000);
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
	return NULL;
}

/* A read that a signal ends says so; the handler reads on its own, within it. */
static void signals(void **state)
{
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t self = pthread_self(), other;
	char c;

	assert_int_equal(pipe(pipe_ends), 0);
	sigaction(SIGUSR1, &action, NULL);
	begin(0);
	assert_int_equal(pthread_create(&other, NULL, interrupt, &self), 0);
	errno = 0;
	assert_int_equal(slots->read(pipe_ends[0], &c, 1), -1);
	assert_int_equal(errno, EINTR);
	pthread_join(other, NULL);
	assert_int_equal(seen, 2);
	assert_int_equal(last.fd, pipe_ends[0]);
	assert_true(last_ns >= 45 * NS_PER_MS);
	end();
	signal(SIGUSR1, SIG_DFL);
}

static void *read_for_ever(void *arg)
{
	char c;

	slots->read(pipe_ends[0], &c, 1);
	return arg;
}

static unsigned told;
static uint64_t told_ns;

static bool tell(uintptr_t tcb, uint64_t what, uint64_t began, uint64_t from, uint64_t now, void *arg)
{
	assert_int_equal(what, io_word(IO_READ, pipe_ends[0]));
	told++;
	told_ns += timed_ns(now - from);
	return true;
}

/* A thread that is cancelled in a read ends there, as without the hook. */
static void cancellation(void **state)
{
	pthread_t thread;
	void *result;

	begin(0);
	assert_int_equal(pthread_create(&thread, NULL, read_for_ever, NULL), 0);
	usleep(20000);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	end();
}

static _Atomic uint64_t rest_ns;

static void note_rest(const struct timed_call *call, const struct io_call *what, const struct walk_caller *from)
{
	if (what->operation == IO_READ && what->fd == pipe_ends[0])
		rest_ns = timed_length(call);
}

/* A call that goes on is told of once for each moment, and its end has the rest. */
static void calls_that_go_on(void **state)
{
	uint64_t began = os_monotonic(), all;
	pthread_t thread;

	load();
	assert_true(io_targets_open() && timed_open(&io_calls, 0));
	assert_true(io_hooks_install(note_rest));
	told = 0;
	told_ns = rest_ns = 0;
	assert_int_equal(pthread_create(&thread, NULL, read_for_ever, NULL), 0);
	usleep(50000);
	timed_tell_open(&io_calls, NS_PER_MS, false, tell, NULL);
	assert_int_equal(told, 1);
	usleep(50000);
	timed_tell_open(&io_calls, NS_PER_MS, false, tell, NULL);
	assert_int_equal(told, 2);
	timed_tell_open(&io_calls, NS_PER_S, false, tell, NULL);
	assert_int_equal(told, 2);
	usleep(50000);
	assert_int_equal(write(pipe_ends[1], "x", 1), 1);
	pthread_join(thread, NULL);
	all = os_monotonic() - began;
	assert_true(rest_ns >= 40 * NS_PER_MS);
	assert_true(told_ns >= 90 * NS_PER_MS && told_ns + rest_ns <= all);
	assert_true(told_ns + rest_ns >= 140 * NS_PER_MS);
	end();
}

/* A call that goes on in the next session is that one's from its begin on, told of or not. */
static void from_one_session_to_the_next(void **state)
{
	pthread_t thread;
	uint64_t began;

	load();
	assert_true(io_targets_open() && timed_open(&io_calls, 0));
	assert_true(io_hooks_install(note_rest));
	assert_int_equal(pthread_create(&thread, NULL, read_for_ever, NULL), 0);
	usleep(50000);
	told = 0;
	timed_tell_open(&io_calls, NS_PER_MS, false, tell, NULL);
	assert_int_equal(told, 1);
	io_hooks_remove();
	usleep(30000);
	began = os_monotonic();
	assert_true(timed_open(&io_calls, 0));
	assert_true(io_hooks_install(note_rest));
	usleep(30000);
	told_ns = 0;
	timed_tell_open(&io_calls, NS_PER_MS, false, tell, NULL);
	assert_int_equal(told, 2);
	assert_true(told_ns >= 25 * NS_PER_MS && told_ns <= os_monotonic() - began);
	assert_true(timed_open(&io_calls, 0));
	began = os_monotonic();
	usleep(30000);
	assert_int_equal(write(pipe_ends[1], "x", 1), 1);
	pthread_join(thread, NULL);
	assert_true(rest_ns >= 25 * NS_PER_MS && rest_ns <= os_monotonic() - began + NS_PER_MS);
	end();
}

static struct timed_total less(struct timed_total now, struct timed_total before)
{
	return (struct timed_total){now.calls - before.calls, now.bytes - before.bytes, now.ns - before.ns};
}

/*
 * Each call is counted, of all threads, also of those that have ended, with its bytes and its time, whatever samples
 * there are; one that goes on has its time so far, in one session or the other and once. None is while there is none.
 */
static void each_is_counted(void **state)
{
	struct timed_total before, first, second, writes;
	pthread_t thread;
	char bytes[100];
	uint64_t began;
	int i;

	begin(NS_PER_S);
	before = timed_total(&io_calls, IO_READ);
	writes = timed_total(&io_calls, IO_WRITE);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(slots->write(pipe_ends[1], bytes, (size_t)i % 100 + 1), i % 100 + 1);
		assert_int_equal(slots->read(pipe_ends[0], bytes, sizeof(bytes)), i % 100 + 1);
	}
	assert_int_equal(slots->read(-1, bytes, 1), -1);
	assert_int_equal(seen, 0);
	first = less(timed_total(&io_calls, IO_READ), before);
	assert_int_equal(first.calls, 1001);
	assert_int_equal(first.bytes, 50500);
	assert_true(first.ns > 1001 * 50);
	assert_int_equal(less(timed_total(&io_calls, IO_WRITE), writes).bytes, 50500);
	for (i = 0; i < 10; i++) {
		assert_int_equal(pthread_create(&thread, NULL, read_for_ever, NULL), 0);
		assert_int_equal(write(pipe_ends[1], "x", 1), 1);
		pthread_join(thread, NULL);
	}
	assert_int_equal(less(timed_total(&io_calls, IO_READ), before).calls, 1011);
	before = timed_total(&io_calls, IO_READ);
	assert_int_equal(pthread_create(&thread, NULL, read_for_ever, NULL), 0);
	usleep(50000);
	first = less(timed_total(&io_calls, IO_READ), before);
	assert_int_equal(first.calls, 0);
	assert_true(first.ns >= 40 * NS_PER_MS);
	io_hooks_remove();
	first = less(timed_total(&io_calls, IO_READ), before);
	usleep(30000);
	second = less(timed_total(&io_calls, IO_READ), before);
	assert_int_equal(second.ns, first.ns);
	began = os_monotonic();
	assert_true(timed_open(&io_calls, NS_PER_S));
	assert_true(io_hooks_install(remember));
	usleep(20000);
	assert_int_equal(write(pipe_ends[1], "x", 1), 1);
	pthread_join(thread, NULL);
	second = less(less(timed_total(&io_calls, IO_READ), before), first);
	assert_int_equal(second.calls, 1);
	assert_int_equal(second.bytes, 1);
	assert_true(second.ns >= 15 * NS_PER_MS && second.ns <= os_monotonic() - began);
	end();
}

/* Of a long call that was told of while it went on the rest is its own, however short: no draw. */
static void rest_of_a_long_call(void **state)
{
	pthread_t thread;
	int i, tries;

	load();
	for (i = 0; i < 5; i++) {
		assert_true(io_targets_open() && timed_open(&io_calls, 50 * NS_PER_MS));
		assert_true(io_hooks_install(note_rest));
		told = 0;
		rest_ns = 0;
		assert_int_equal(pthread_create(&thread, NULL, read_for_ever, NULL), 0);
		for (tries = 0; !told && tries < 100; tries++) { /* a busy machine lets the thread begin late */
			usleep(80000);
			timed_tell_open(&io_calls, NS_PER_MS, false, tell, NULL);
		}
		assert_int_equal(told, 1);
		assert_int_equal(write(pipe_ends[1], "x", 1), 1);
		pthread_join(thread, NULL);
		assert_true(rest_ns > 0);
		io_hooks_remove();
	}
	dlclose(library);
}

/* A child of fork, which has our slots, reads and writes, and tells nothing. */
static void forked(void **state)
{
	pid_t child;
	int status;

	begin(0);
	child = fork();
	if (child == 0)
		_exit(slots->write(pipe_ends[1], "y", 1) == 1 ? 7 : 8);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 7);
	end();
}

/* ---- what samples stand for ---- */

static void spend(uint64_t ns, uint64_t *spent)
{
	struct timespec rest = {0, (long)ns};
	struct timed_call call;

	timed_begin(&io_calls, &call, 0);
	if (ns >= 50000)
		nanosleep(&rest, NULL);
	else
		for (rest.tv_nsec = 0; timed_ns(timed_now() - call.began) < ns;)
			;
	if (timed_end(&io_calls, &call, IO_READ, 0)) {
		seen++;
		weight += timed_weight(&io_calls, &call);
	}
	*spent += timed_ns(call.ended - call.began);
}

static void no_bias(void **state)
{
	static const struct {
		uint64_t ns, n;
	} lengths[] = {{200, 2000000}, {5000, 100000}, {200000, 2000}, {1500000, 300}};
	const uint64_t interval = NS_PER_MS;
	size_t i;

	assert_true(timed_open(&io_calls, interval));
	atomic_store(&io_calls.on, true);
	for (i = 0; i < ARRAY_LEN(lengths); i++) {
		uint64_t spent = 0, j;
		double error;

		seen = weight = 0;
		for (j = 0; j < lengths[i].n; j++)
			spend(lengths[i].ns, &spent);
		error = sqrt((double)interval * (double)spent);
		print_message("%llu ns: %.4f of the time, standard error %.4f, %llu samples\n",
			      (unsigned long long)lengths[i].ns, (double)weight / (double)spent, error / (double)spent,
			      (unsigned long long)seen);
		if (lengths[i].ns >= interval)
			assert_int_equal(seen, lengths[i].n);
		assert_true(fabs((double)weight - (double)spent) < 4 * error);
	}
	atomic_store(&io_calls.on, false);
}

/* ---- what descriptors lead to ---- */

static const char *name_of(int fd)
{
	return io_target_name(io_target_of(fd, NULL, 0).name);
}

static void descriptors(void **state)
{
	char path[] = "/tmp/test_sources_io_XXXXXX", long_path[400], kept[64];
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	socklen_t length = sizeof(address);
	int fd = mkstemp(path), server, client, served, i;
	struct io_target t;

	assert_true(io_targets_open());
	assert_string_equal(name_of(fd), path);
	assert_string_equal(name_of(fd), path);
	/* the number, and mostly the inode, come again */
	for (i = 0; i < 20; i++) {
		int again;

		unlink(path);
		close(fd);
		snprintf(kept, sizeof(kept), "/tmp/test_sources_io_again_%d_%d", getpid(), i);
		again = open(kept, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(again, fd);
		assert_string_equal(name_of(again), kept);
		unlink(kept);
	}
	close(fd);
	server = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(server, 5), 0);
	getsockname(server, (struct sockaddr *)&address, &length);
	io_targets_look();
	client = socket(AF_INET, SOCK_STREAM, 0);
	t = io_target_of(client, (struct sockaddr *)&address, sizeof(address));
	snprintf(kept, sizeof(kept), "127.0.0.1:%u", ntohs(address.sin_port));
	assert_string_equal(io_target_name(t.name), kept);
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	served = accept(server, NULL, NULL);
	t = io_target_of(client, NULL, 0);
	assert_string_equal(io_target_name(t.name), kept);
	assert_false(t.serves);
	assert_int_equal(t.port, ntohs(address.sin_port));
	t = io_target_of(served, NULL, 0);
	snprintf(kept, sizeof(kept), "127.0.0.1 (client of :%u)", ntohs(address.sin_port));
	assert_string_equal(io_target_name(t.name), kept);
	assert_true(t.serves);
	t = io_target_of(server, NULL, 0);
	snprintf(kept, sizeof(kept), "listening on :%u", ntohs(address.sin_port));
	assert_string_equal(io_target_name(t.name), kept);
	assert_true(t.serves);
	close(client);
	close(served);
	close(server);
	/* addresses as RFC 5952 writes them */
	client = socket(AF_INET6, SOCK_DGRAM, 0);
	if (client >= 0) {
		static const char *const texts[] = {"::1", "2001:db8::7", "2001:db8:0:1:1:1:1:1", "fe80::1:0:0:1", "::"};

		for (i = 0; i < (int)ARRAY_LEN(texts); i++) {
			assert_int_equal(inet_pton(AF_INET6, texts[i], &six.sin6_addr), 1);
			six.sin6_port = htons(53);
			snprintf(kept, sizeof(kept), "[%s]:53", texts[i]);
			t = io_target_of(client, (struct sockaddr *)&six, sizeof(six));
			assert_string_equal(io_target_name(t.name), kept);
		}
		assert_int_equal(inet_pton(AF_INET6, "::ffff:10.1.2.3", &six.sin6_addr), 1);
		t = io_target_of(client, (struct sockaddr *)&six, sizeof(six));
		assert_string_equal(io_target_name(t.name), "10.1.2.3:53");
		assert_true(t.serves);
		close(client);
	}
	assert_int_equal(pipe(pipe_ends), 0);
	assert_string_equal(name_of(pipe_ends[0]), "pipe");
	assert_string_equal(name_of(-1), "(others)");
	/* of a long name the end is kept, and there is a last name */
	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	assert_int_equal(strlen(io_target_name(io_target_path(long_path).name)), IO_NAME - 1);
	for (i = 0; i < 40000; i++) {
		snprintf(kept, sizeof(kept), "/many/%d", i);
		t = io_target_path(kept);
		assert_non_null(io_target_name(t.name));
	}
	assert_string_equal(io_target_name(t.name), "(other files)");
	assert_null(io_target_name(0));
	assert_null(io_target_name(IO_NAMES_FIRST + IO_NAMES));
	io_targets_release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function), cmocka_unit_test(mode_is_passed_on), cmocka_unit_test(signals),
		cmocka_unit_test(cancellation), cmocka_unit_test(calls_that_go_on),
		cmocka_unit_test(from_one_session_to_the_next), cmocka_unit_test(each_is_counted),
		cmocka_unit_test(rest_of_a_long_call), cmocka_unit_test(forked),
		cmocka_unit_test(no_bias), cmocka_unit_test(descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
