/*
 * Where a stream goes: files, FIFOs without and with readers, sockets, readers that are slow, that leave, that send
 * garbage; and that no other user is let in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/sinks/stream/stream_closing.h"
#include "agent/sinks/stream/stream_out.h"
#include "common/control/control.h"
#include "common/os/os.h"

static char folder[64], path[96];
static struct error err;

static int set_up(void **state)
{
	signal(SIGPIPE, SIG_IGN);
	strcpy(folder, "/tmp/jstrobe-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/out", folder);
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	return rmdir(folder);
}

static struct stream_out *open_out(const char *target, bool records)
{
	struct output place = OUTPUT_INIT;
	struct stream_out *o = stream_out_open(target, records, false, &place, &err);

	if (!o || output_publish(&place, false, &err))
		fail_msg("%s: %s", target, err.text);
	output_drop(&place);
	return o;
}

/* It cannot be opened, and no file is left for us to drop. */
static void assert_refused(const char *target)
{
	struct output place = OUTPUT_INIT;

	assert_null(stream_out_open(target, false, false, &place, &err));
	assert_int_not_equal(err.code, 0);
	assert_int_equal(place.fd, -1);
	assert_int_equal(place.folder, -1);
}

static size_t read_all(int fd, char *to, size_t size)
{
	size_t used = 0;
	ssize_t n;

	while (used < size && (n = read(fd, to + used, size - used)) > 0)
		used += (size_t)n;
	return used;
}

static void file(void **state)
{
	struct stream_out *o;
	char text[32];
	struct stat st;
	int fd;

	fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_int_equal(write(fd, "what was there before", 21), 21);
	close(fd);
	o = open_out(path, false);
	assert_int_equal(stream_out_reader(o), 1);
	assert_false(stream_out_blind(o));
	assert_true(stream_out_put(o, "one\n", 4, 1, false));
	stream_out_write(o);
	assert_true(stream_out_put(o, "two\n", 4, 1, false));
	stream_out_close(o);
	fd = open(path, O_RDONLY);
	assert_int_equal(read_all(fd, text, sizeof(text)), 8);
	assert_memory_equal(text, "one\ntwo\n", 8);
	close(fd);
	unlink(path);
	stream_out_close(open_out(path, false));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* What was there stays until the file takes its name; of one that never does nothing is left. */
static void not_begun(void **state)
{
	struct output place = OUTPUT_INIT;
	struct stream_out *o;
	char text[32];
	int fd;

	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "precious", 8), 8);
	close(fd);
	o = stream_out_open(path, false, false, &place, &err);
	assert_non_null(o);
	assert_true(stream_out_put(o, "one\n", 4, 1, false));
	stream_out_close(o);
	output_drop(&place);
	fd = open(path, O_RDONLY);
	assert_int_equal(read_all(fd, text, sizeof(text)), 8);
	assert_memory_equal(text, "precious", 8);
	close(fd);
}

/* With N descriptors left the file is opened, or refused with the reason: it never counts as a FIFO without reader. */
static void no_descriptors(void **state)
{
	struct rlimit before, few;
	unsigned n, opened = 0;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (n = 0; n < 8 && !opened; n++) {
		struct output place = OUTPUT_INIT;
		struct stream_out *o;
		int fd = dup(0);

		assert_true(fd >= 0);
		close(fd);
		few = before;
		few.rlim_cur = (rlim_t)fd + n;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		o = stream_out_open(path, false, false, &place, &err);
		setrlimit(RLIMIT_NOFILE, &before);
		if (!o) {
			assert_int_equal(err.code, EMFILE);
			assert_int_equal(place.fd, -1);
			continue;
		}
		opened++;
		assert_int_equal(stream_out_reader(o), 1);
		stream_out_close(o);
		output_drop(&place);
	}
	assert_true(n > 3);
	assert_int_equal(opened, 1);
}

/* A link of another user leads where that one likes; one of our own to what takes the file's place. */
static void link_to_a_file(void **state)
{
	char other[128];
	struct stat st;
	int fd;

	snprintf(other, sizeof(other), "%s/other", folder);
	fd = open(other, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "keep", 4), 4);
	close(fd);
	assert_int_equal(symlink(other, path), 0);
	if (geteuid() == 0) {
		assert_int_equal(lchown(path, 12345, 12345), 0);
		assert_refused(path);
		assert_int_equal(err.code, ELOOP);
		assert_int_equal(stat(other, &st), 0);
		assert_int_equal(st.st_size, 4);
		assert_int_equal(lchown(path, 0, 0), 0);
	}
	stream_out_close(open_out(path, false));
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	unlink(other);
	assert_refused(folder);
	assert_refused("/nowhere/at/all");
	assert_refused("fd:12345");
	assert_refused("fd:x");
}

/* Wait until there is a reader other than LAST (0: none). */
static uint32_t wait_for_reader(struct stream_out *o, uint32_t last)
{
	uint32_t now;
	int i;

	for (i = 0; i < 500; i++) {
		now = stream_out_reader(o);
		if (now && now != last)
			return now;
		usleep(10000);
	}
	fail_msg("no reader was noticed");
	return 0;
}

static void fifo(void **state)
{
	struct stream_out *o;
	uint32_t first;
	char text[32];
	int fd;

	assert_int_equal(mkfifo(path, 0600), 0);
	o = open_out(path, false);
	assert_int_equal(stream_out_reader(o), 0);
	assert_false(stream_out_put(o, "lost\n", 5, 1, false));
	fd = open(path, O_RDONLY | O_NONBLOCK);
	first = wait_for_reader(o, 0);
	assert_true(stream_out_put(o, "one\n", 4, 1, false));
	stream_out_write(o);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	/* he leaves in the middle, with something on its way */
	assert_true(stream_out_put(o, "two\n", 4, 1, false));
	close(fd);
	stream_out_write(o);
	assert_int_equal(stream_out_reader(o), 0);
	assert_int_equal(stream_out_waiting(o), 0);
	assert_false(stream_out_over(o));
	fd = open(path, O_RDONLY | O_NONBLOCK);
	wait_for_reader(o, first);
	assert_true(stream_out_put(o, "three\n", 6, 1, false));
	stream_out_close(o);
	assert_int_equal(read(fd, text, sizeof(text)), 6);
	close(fd);
}

/* Who reads nothing costs memory up to a limit, and gets whole records later. */
static void slow_reader(void **state)
{
	struct stream_out *o;
	char record[101], *text = malloc(4u << 20);
	unsigned put = 0, i;
	size_t n = 0;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	o = stream_out_take(ends[1], false, &err);
	assert_non_null(o);
	for (i = 0; i < 30000; i++) {
		snprintf(record, sizeof(record), "%099u", put);
		record[99] = '\n';
		if (stream_out_put(o, record, 100, 1, false))
			put++;
		stream_out_write(o);
	}
	assert_in_range(put, STREAM_WAITING / 100, 29999);
	assert_in_range(stream_out_waiting(o), STREAM_WAITING - 200, STREAM_WAITING);
	snprintf(record, sizeof(record), "%099u", put);
	record[99] = '\n';
	assert_true(stream_out_put(o, record, 100, 1, true));
	put++;
	while (stream_out_waiting(o)) {
		n += (size_t)read(ends[0], text + n, 65536);
		stream_out_write(o);
	}
	stream_out_close(o);
	n += read_all(ends[0], text + n, (4u << 20) - n);
	assert_int_equal(n, put * 100);
	for (i = 0; i < put; i++)
		assert_int_equal(strtoul(text + i * 100, NULL, 10), i);
	close(ends[0]);
	free(text);
}

/* A stream whose reader, at the descriptor *READER, has taken nothing: as much waits as may. */
static struct stream_out *stalled(int *reader, const char *record, size_t size, size_t *put)
{
	struct stream_out *o;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	o = stream_out_take(ends[1], false, &err);
	assert_non_null(o);
	for (*put = 0; stream_out_put(o, record, size, 1, false); ++*put)
		stream_out_write(o);
	*reader = ends[0];
	return o;
}

/* The number of whole records that the reader at FD finds up to the end of its stream. */
static size_t whole_records_at(int fd, size_t size)
{
	char *text = malloc(2u << 20);
	size_t n = read_all(fd, text, 2u << 20);

	free(text);
	close(fd);
	return n / size;
}

/* A reader that has not taken all when the time is over gets the rest of his record, and no more. */
static void cut_at_the_end(void **state)
{
	char record[5000], some[1234]; /* more than one read, so that few writes end with a record */
	struct stream_out *o;
	size_t put, n = 0, got = 0;
	char last = 0;
	uint64_t lost;
	int reader;

	memset(record, 'x', sizeof(record));
	record[sizeof(record) - 1] = '\n';
	o = stalled(&reader, record, sizeof(record), &put);
	stream_out_cut(o);
	assert_in_range(stream_out_waiting(o), 0, sizeof(record) - 1);
	for (; stream_out_waiting(o); stream_out_write(o)) {
		n = (size_t)read(reader, some, sizeof(some));
		got += n;
	}
	lost = stream_out_close(o);
	while ((n = (size_t)read(reader, some, sizeof(some))) > 0) {
		got += n;
		last = some[n - 1];
	}
	close(reader);
	assert_int_equal(last, '\n');
	assert_int_equal(got % sizeof(record), 0);
	assert_in_range(lost, 1, put - 1);
	assert_int_equal(got / sizeof(record) + lost, put);
}

/* Readers that stand still end together, and what they do not get is counted; one who reads gets all. */
static void many_at_the_end(void **state)
{
	enum { READERS = 20, SIZE = 100 };
	char record[SIZE];
	int readers[READERS];
	size_t put[READERS], records, all = 0, got = 0;
	uint64_t began = os_monotonic();
	unsigned i;

	memset(record, 'x', sizeof(record));
	record[sizeof(record) - 1] = '\n';
	stream_closing_begin();
	for (i = 0; i < READERS; i++) {
		stream_closing_add(stalled(&readers[i], record, sizeof(record), &put[i]));
		all += put[i];
	}
	records = whole_records_at(readers[0], SIZE);
	assert_int_equal(records, put[0]);
	got += records;
	assert_true(stream_closing_hurry(60 * NS_PER_S));
	/* not two seconds each */
	assert_in_range(os_monotonic() - began, NS_PER_S, 20 * NS_PER_S);
	for (i = 1; i < READERS; i++) {
		/* who took nothing at all may have a part of a record at the end */
		records = whole_records_at(readers[i], SIZE);
		assert_in_range(records, 1, put[i] - 1);
		got += records;
	}
	assert_int_equal(got + stream_closing_lost(), all);
}

/* The command at the other end is gone: there is nothing more to do. */
static void reader_gone(void **state)
{
	struct stream_out *o;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	o = stream_out_take(ends[1], false, &err);
	close(ends[0]);
	assert_int_equal(stream_out_reader(o), 0);
	assert_true(stream_out_over(o));
	assert_false(stream_out_put(o, "x\n", 2, 1, false));
	stream_out_close(o);
	assert_null(stream_out_take(open("/dev/null", O_WRONLY), false, &err));
}

static void listener(void **state)
{
	char target[128], text[64], garbage[4096] = "garbage";
	struct stream_out *o;
	struct stat st;
	uint32_t first;
	int one, two;

	snprintf(target, sizeof(target), "unix:%s", path);
	o = open_out(target, false);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stream_out_reader(o), 0);
	one = control_connect(path, &err);
	first = wait_for_reader(o, 0);
	/* a second one is turned away, the first one's flood is left where it is */
	two = control_connect(path, &err);
	while (send(one, garbage, sizeof(garbage), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(stream_out_reader(o), first);
	assert_int_equal(read(two, text, sizeof(text)), 0);
	close(two);
	assert_true(stream_out_put(o, "one\n", 4, 1, false));
	stream_out_write(o);
	assert_int_equal(read(one, text, sizeof(text)), 4);
	close(one);
	assert_int_equal(stream_out_reader(o), 0);
	one = control_connect(path, &err);
	wait_for_reader(o, first);
	close(one);
	stream_out_close(o);
	assert_int_equal(stat(path, &st), -1);
}

/* Its folder is exchanged while it listens: the socket goes with the folder, and what lies at its path by then stays. */
static void listener_whose_folder_is_exchanged(void **state)
{
	char folder[128], away[128], target[192], socket[160], there[160];
	struct stream_out *o;
	struct stat st;

	snprintf(folder, sizeof(folder), "%s.d", path);
	snprintf(away, sizeof(away), "%s.away", path);
	snprintf(socket, sizeof(socket), "%s/s", folder);
	snprintf(there, sizeof(there), "%s/s", away);
	snprintf(target, sizeof(target), "unix:%s", socket);
	assert_int_equal(mkdir(folder, 0700), 0);
	o = open_out(target, false);
	assert_int_equal(rename(folder, away), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(link(there, socket), 0);
	stream_out_close(o);
	assert_int_equal(lstat(there, &st), -1);
	assert_int_equal(lstat(socket, &st), 0);
	assert_int_equal(unlink(socket), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(rmdir(away), 0);
}

/* A link on the way that belongs to another user leads where he likes: it is not followed. */
static void listener_behind_a_link_of_others(void **state)
{
	char folder[128], link[128], target[192];
	struct stream_out *o;

	if (geteuid() != 0)
		skip();
	snprintf(folder, sizeof(folder), "%s.d", path);
	snprintf(link, sizeof(link), "%s.link", path);
	snprintf(target, sizeof(target), "unix:%s/s", link);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(symlink(folder, link), 0);
	o = open_out(target, false);
	stream_out_close(o);
	assert_int_equal(lchown(link, 12345, 12345), 0);
	assert_refused(target);
	assert_int_equal(err.code, ELOOP);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* A socket that a killed process left is taken over, one in use and what is no socket are not. */
static void dead_socket(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct stream_out *o;
	char target[128];
	int sock = socket(AF_UNIX, SOCK_STREAM, 0), fd;

	snprintf(target, sizeof(target), "unix:%s", path);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(bind(sock, (struct sockaddr *)&a, sizeof(a)), 0);
	close(sock);
	o = open_out(target, false);
	assert_refused(target);
	assert_int_equal(err.code, EADDRINUSE);
	stream_out_close(o);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	close(fd);
	assert_refused(target);
}

/* By records: one write each, so that who looks at writes sees whole ones. A datagram socket shows them. */
static void records(void **state)
{
	struct stream_out *o;
	char text[64];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	o = stream_out_take(ends[1], true, &err);
	assert_true(stream_out_put(o, "one\ntwo\nthree\n", 14, 1, false));
	stream_out_write(o);
	assert_int_equal(read(ends[0], text, sizeof(text)), 4);
	assert_int_equal(read(ends[0], text, sizeof(text)), 4);
	assert_int_equal(read(ends[0], text, sizeof(text)), 6);
	stream_out_close(o);
	close(ends[0]);
	o = open_out("/dev/null", false);
	assert_true(stream_out_blind(o));
	assert_true(stream_out_put(o, "one\ntwo\n", 8, 1, false));
	stream_out_write(o);
	assert_int_equal(stream_out_waiting(o), 0);
	stream_out_close(o);
}

static void inherited(void **state)
{
	struct stream_out *o;
	char target[32], text[32];
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	snprintf(target, sizeof(target), "fd:%d", ends[1]);
	o = open_out(target, false);
	/* the program's own descriptor stays as it is */
	assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
	assert_true(stream_out_put(o, "one\n", 4, 1, false));
	stream_out_write(o);
	assert_int_equal(read(ends[0], text, sizeof(text)), 4);
	stream_out_close(o);
	assert_int_equal(write(ends[1], "x", 1), 1);
	close(ends[0]);
	close(ends[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(file), TEST(not_begun), TEST(no_descriptors),
		TEST(link_to_a_file), TEST(fifo), TEST(slow_reader), TEST(cut_at_the_end),
		TEST(many_at_the_end), TEST(reader_gone), TEST(listener),
		TEST(listener_whose_folder_is_exchanged), TEST(listener_behind_a_link_of_others),
		TEST(dead_socket), TEST(records), TEST(inherited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
