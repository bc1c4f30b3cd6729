/* Messages between command and agent: whole, broken, slow and hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/control/control.h"
#include "entries.h"

static int pair[2];
static struct error err;
static struct control_message m = CONTROL_MESSAGE_INIT;

static int open_pair(void **state)
{
	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static int close_pair(void **state)
{
	control_release(&m);
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static void header(unsigned char *h, uint32_t length, unsigned char type)
{
	h[0] = length & 0xff;
	h[1] = length >> 8 & 0xff;
	h[2] = length >> 16 & 0xff;
	h[3] = length >> 24;
	h[4] = type;
}

static void there_and_back(void **state)
{
	assert_int_equal(control_send_text(pair[0], CONTROL_NOTE, "hello", 1000, &err), 0);
	assert_int_equal(control_send_text(pair[0], CONTROL_DONE, "", 1000, &err), 0);
	assert_int_equal(control_receive(pair[1], &m, 1000, &err), 0);
	assert_int_equal(m.type, CONTROL_NOTE);
	assert_int_equal(m.length, 5);
	assert_string_equal(m.payload, "hello");
	assert_int_equal(m.fd, -1);
	assert_int_equal(control_receive(pair[1], &m, 1000, &err), 0);
	assert_int_equal(m.type, CONTROL_DONE);
	assert_string_equal(m.payload, "");
}

static void *send_much(void *data)
{
	static char bytes[CONTROL_MAX];
	struct error e;
	int i;

	memset(bytes, 'x', sizeof(bytes));
	for (i = 0; i < 20; i++)
		if (control_send(pair[0], CONTROL_TEXT, bytes, sizeof(bytes), -1, 5000, &e))
			return (void *)1;
	return NULL;
}

/* Larger than the socket's buffer: both sides go on from where they were. */
static void longest_messages(void **state)
{
	pthread_t thread;
	void *result;
	int i;

	pthread_create(&thread, NULL, send_much, NULL);
	for (i = 0; i < 20; i++) {
		assert_int_equal(control_receive(pair[1], &m, 5000, &err), 0);
		assert_int_equal(m.length, CONTROL_MAX);
		assert_int_equal(m.payload[CONTROL_MAX - 1], 'x');
		assert_int_equal(m.payload[CONTROL_MAX], '\0');
	}
	pthread_join(thread, &result);
	assert_null(result);
}

static void too_long(void **state)
{
	unsigned char h[5];
	static char bytes[CONTROL_MAX + 1];

	assert_int_equal(control_send(pair[0], CONTROL_TEXT, bytes, sizeof(bytes), -1, 1000, &err),
			 -EMSGSIZE);
	header(h, CONTROL_MAX + 1, CONTROL_TEXT);
	assert_int_equal(write(pair[0], h, 5), 5);
	assert_int_equal(control_receive(pair[1], &m, 1000, &err), -EPROTO);
	assert_null(m.payload);
	header(h, 0xffffffffu, CONTROL_TEXT);
	assert_int_equal(write(pair[0], h, 5), 5);
	assert_int_equal(control_receive(pair[1], &m, 1000, &err), -EPROTO);
}

static void unknown_types(void **state)
{
	unsigned char h[5];

	header(h, 0, CONTROL_NONE);
	assert_int_equal(write(pair[0], h, 5), 5);
	assert_int_equal(control_receive(pair[1], &m, 1000, &err), -EPROTO);
	header(h, 0, CONTROL_TYPES);
	assert_int_equal(write(pair[0], h, 5), 5);
	assert_int_equal(control_receive(pair[1], &m, 1000, &err), -EPROTO);
}

static void *drip(void *data)
{
	unsigned char bytes[5 + 3];
	size_t i;

	header(bytes, 3, CONTROL_NOTE);
	memcpy(bytes + 5, "abc", 3);
	for (i = 0; i < sizeof(bytes); i++) {
		usleep(5000);
		if (write(pair[0], bytes + i, 1) != 1)
			break;
	}
	return NULL;
}

static void byte_by_byte(void **state)
{
	pthread_t thread;

	pthread_create(&thread, NULL, drip, NULL);
	assert_int_equal(control_receive(pair[1], &m, 1000, &err), 0);
	assert_string_equal(m.payload, "abc");
	pthread_join(thread, NULL);
}

static void silence(void **state)
{
	struct timespec a, b;
	double ms;

	clock_gettime(CLOCK_MONOTONIC, &a);
	assert_int_equal(control_receive(pair[1], &m, 100, &err), -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &b);
	ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
	assert_true(ms >= 99 && ms < 2000);
}

/* No reader: the sender gives up in time. */
static void deaf_reader(void **state)
{
	static char bytes[CONTROL_MAX];
	int i, rc = 0;

	for (i = 0; i < 100 && rc == 0; i++)
		rc = control_send(pair[0], CONTROL_TEXT, bytes, sizeof(bytes), -1, 50, &err);
	assert_int_equal(rc, -ETIMEDOUT);
}

static void gone(void **state)
{
	unsigned char h[5];

	/* in the middle of a message */
	header(h, 10, CONTROL_TEXT);
	assert_int_equal(write(pair[0], h, 5), 5);
	close(pair[0]);
	assert_int_equal(control_receive(pair[1], &m, 1000, &err), -ECONNRESET);
	assert_null(m.payload);
	assert_int_equal(control_receive(pair[1], &m, 1000, &err), -ECONNRESET);
	/* writing to it raises no SIGPIPE (which would end this test) */
	assert_int_equal(control_send_text(pair[1], CONTROL_NOTE, "x", 1000, &err), -ECONNRESET);
	pair[0] = -1;
}

static volatile sig_atomic_t ticks;

static void tick(int sig)
{
	ticks++;
}

static void interrupted(void **state)
{
	struct sigaction action = {.sa_handler = tick}; /* no SA_RESTART */
	timer_t timer;
	struct itimerspec every = {{0, 1000000}, {0, 1000000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};

	sigaction(SIGALRM, &action, NULL);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	timer_settime(timer, 0, &every, NULL);
	assert_int_equal(control_receive(pair[1], &m, 100, &err), -ETIMEDOUT);
	assert_true(ticks > 10);
	longest_messages(state);
	timer_delete(timer);
	signal(SIGALRM, SIG_IGN);
}

static void a_descriptor_comes_along(void **state)
{
	char path[] = "/tmp/jstrobe-test-XXXXXX";
	int fd = mkstemp(path);
	struct stat a, b;

	unlink(path);
	assert_int_equal(control_send(pair[0], CONTROL_OUTPUT, "n", 1, fd, 1000, &err), 0);
	assert_int_equal(control_receive(pair[1], &m, 1000, &err), 0);
	assert_true(m.fd >= 0);
	assert_int_equal(fstat(fd, &a), 0);
	assert_int_equal(fstat(m.fd, &b), 0);
	assert_int_equal(a.st_ino, b.st_ino);
	assert_int_equal(fcntl(m.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
}

static void send_descriptors(int count, const void *bytes, size_t length)
{
	char space[CMSG_SPACE(sizeof(int) * 64)] = {0};
	struct iovec part = {(void *)(uintptr_t)bytes, length};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space,
				 .msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	int i, *fds = (int *)CMSG_DATA(c);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
	for (i = 0; i < count; i++)
		fds[i] = 0;
	assert_int_equal(sendmsg(pair[0], &message, 0), (ssize_t)length);
}

/* Descriptors that were not asked for do not pile up. */
static void many_descriptors(void **state)
{
	unsigned before = descriptors();
	unsigned char h[5];
	int i;

	for (i = 0; i < 50; i++) {
		header(h, 0, CONTROL_NOTE);
		send_descriptors(40, h, 5);
		assert_int_equal(control_receive(pair[1], &m, 1000, &err), 0);
	}
	header(h, 0, CONTROL_NONE);
	send_descriptors(3, h, 5);
	assert_int_equal(control_receive(pair[1], &m, 1000, &err), -EPROTO);
	control_release(&m);
	assert_int_equal(descriptors(), before);
}

/* Random bytes never crash, never hang, never leak. */
static void noise(void **state)
{
	unsigned before = descriptors(), seed = 1;
	int round;

	for (round = 0; round < 300; round++) {
		unsigned char bytes[64];
		size_t i, n = (size_t)rand_r(&seed) % sizeof(bytes) + 1;
		int sock[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
		for (i = 0; i < n; i++)
			bytes[i] = (unsigned char)(rand_r(&seed) % (round % 2 ? 256 : 8));
		assert_int_equal(write(sock[0], bytes, n), (ssize_t)n);
		close(sock[0]);
		while (control_receive(sock[1], &m, 100, &err) == 0)
			assert_true(m.type < CONTROL_TYPES && m.length < n);
		close(sock[1]);
	}
	assert_int_equal(descriptors(), before);
}

static void listening(void **state)
{
	char path[64];
	struct stat st;
	int listener, client, server;
	pid_t pid;
	uid_t uid;

	snprintf(path, sizeof(path), "/tmp/jstrobe-test-%d", (int)getpid());
	umask(0);
	listener = control_listen(path, &err);
	assert_true(listener >= 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(umask(022), 0); /* the mask is put back */
	assert_int_equal(control_accept(listener, 20, &err), -ETIMEDOUT);
	client = control_connect(path, &err);
	assert_true(client >= 0);
	server = control_accept(listener, 1000, &err);
	assert_true(server >= 0);
	assert_int_equal(control_peer(server, &pid, &uid, &err), 0);
	assert_int_equal(pid, getpid());
	assert_int_equal(uid, geteuid());
	assert_true(control_listen(path, &err) < 0); /* taken */
	close(client);
	close(server);
	close(listener);
	assert_int_equal(control_connect(path, &err), -ECONNREFUSED);
	unlink(path);
	assert_int_equal(control_connect(path, &err), -ENOENT);
	assert_true(control_listen("/no/such/folder/s", &err) < 0);
}

static void tokens(void **state)
{
	char a[CONTROL_TOKEN_LENGTH + 1], b[CONTROL_TOKEN_LENGTH + 1];

	assert_int_equal(control_token(a, &err), 0);
	assert_int_equal(control_token(b, &err), 0);
	assert_int_equal(strspn(a, "0123456789abcdef"), CONTROL_TOKEN_LENGTH);
	assert_false(control_token_equal(a, b));
	assert_true(control_token_equal(a, a));
	assert_false(control_token_equal("", ""));
	assert_false(control_token_equal(a, "x"));
}

/* NAME in FOLDER, AGE seconds old; listened at as long as what comes back is open. */
static int socket_in(const char *folder, const char *name, time_t age)
{
	struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
	char path[128];
	int listener;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	listener = control_listen(path, &err);
	assert_true(listener >= 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
	return listener;
}

static bool is_there(const char *folder, const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return lstat(path, &st) == 0;
}

/* What killed commands left goes; one that is listened at goes on, undisturbed, however old it is. */
static void sweeping(void **state)
{
	static const char *const kept[] = {".jstrobe-00000000000000aa", ".jstrobe-00000000000000cc",
					   ".jstrobe-00000000000000DD", ".jstrobe-00000000000000eeb",
					   ".jstrobe-00000000000000ff"};
	char folder[] = "/tmp/jstrobe-test-XXXXXX", path[128];
	int listener, fd;
	size_t i;

	assert_non_null(mkdtemp(folder));
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	listener = socket_in(folder, kept[0], 100);
	close(socket_in(folder, ".jstrobe-00000000000000bb", 100));
	close(socket_in(folder, kept[1], 0)); /* may just be made */
	close(socket_in(folder, kept[2], 100));
	close(socket_in(folder, kept[3], 100));
	snprintf(path, sizeof(path), "%s/%s", folder, kept[4]);
	assert_int_equal(symlink(kept[2], path), 0);
	assert_int_equal(control_sweep(fd, 10), 1);
	assert_false(is_there(folder, ".jstrobe-00000000000000bb"));
	assert_int_equal(control_accept(listener, 20, &err), -ETIMEDOUT);
	close(listener);
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		assert_true(is_there(folder, kept[i]));
		assert_int_equal(unlinkat(fd, kept[i], 0), 0);
	}
	close(fd);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(control_sweep(-1, 0), 0);
}

static void values(void **state)
{
	static const char lines[] = "a=1\nbb=two=2\nempty=\nlast=99";
	char out[8];

	assert_true(control_value(lines, "bb", out, sizeof(out)));
	assert_string_equal(out, "two=2");
	assert_true(control_value(lines, "empty", out, sizeof(out)));
	assert_string_equal(out, "");
	assert_false(control_value(lines, "b", out, sizeof(out)));
	assert_false(control_value(lines, "bb", out, 5)); /* no room */
	assert_int_equal(control_number(lines, "last"), 99);
	assert_int_equal(control_number(lines, "none"), 0);
	assert_false(control_value("", "a", out, sizeof(out)));
}

#define ON_PAIR(name) cmocka_unit_test_setup_teardown(name, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_PAIR(there_and_back),
		ON_PAIR(longest_messages),
		ON_PAIR(too_long),
		ON_PAIR(unknown_types),
		ON_PAIR(byte_by_byte),
		ON_PAIR(silence),
		ON_PAIR(deaf_reader),
		ON_PAIR(gone),
		ON_PAIR(interrupted),
		ON_PAIR(a_descriptor_comes_along),
		ON_PAIR(many_descriptors),
		ON_PAIR(noise),
		cmocka_unit_test(listening),
		cmocka_unit_test(sweeping),
		cmocka_unit_test(tokens),
		cmocka_unit_test(values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
