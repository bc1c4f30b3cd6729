/*
 * Opening files for results where others lie in wait: links, FIFOs and files of others, folders that are exchanged,
 * names that are taken, readers that do not read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/os/output.h"
#include "entries.h"

#define STRANGER 12345

static char folder[64], path[96];
static struct error err;
static struct output o = OUTPUT_INIT;

static int set_up(void **state)
{
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	strcpy(folder, "/tmp/jstrobe-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/out.txt", folder);
	return 0;
}

static int tear_down(void **state)
{
	char command[96];

	output_drop(&o);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void put(const char *name, const char *text, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void holds(const char *name, const char *text)
{
	char bytes[64] = "";
	int fd = open(name, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes) - 1), strlen(text));
	close(fd);
	assert_string_equal(bytes, text);
}

static int find(unsigned flags)
{
	output_drop(&o);
	return output_find(&o, path, flags, &err);
}

/* The whole way, writing TEXT. */
static int result(const char *text, unsigned flags)
{
	int rc = find(flags);

	if (rc == 0)
		rc = output_make(&o, &err);
	if (rc == 0)
		assert_int_equal(write(o.fd, text, strlen(text)), strlen(text));
	return rc ? rc : output_publish(&o, false, &err);
}

static bool root(void)
{
	if (geteuid() != 0)
		print_message("only root can be another user: not tested\n");
	return geteuid() == 0;
}

static void appears_when_it_is_whole(void **state)
{
	struct stat st;
	int old;

	put(path, "old", 0666);
	old = open(path, O_RDWR);
	assert_int_equal(find(0), 0);
	assert_int_equal(entries(folder), 1);
	assert_int_equal(output_make(&o, &err), 0);
	assert_int_equal(write(o.fd, "new", 3), 3);
	holds(path, "old");
	assert_int_equal(output_sync(&o, &err), 0);
	assert_int_equal(output_publish(&o, false, &err), 0);
	assert_int_equal(entries(folder), 1);
	holds(path, "new");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* who had the old one open has the old one */
	assert_int_equal(fstat(old, &st), 0);
	assert_int_equal(st.st_nlink, 0);
	close(old);
}

static void dropped(void **state)
{
	assert_int_equal(find(0), 0);
	assert_int_equal(output_make(&o, &err), 0);
	output_drop(&o);
	assert_int_equal(entries(folder), 0);
	output_drop(&o);
}

/* A process that makes a hidden file beside the result's name, and waits. */
static pid_t writer(void)
{
	char byte;
	int ends[2];
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		alarm(60); /* a test that fails does not end it */
		if (find(OUTPUT_HIDDEN) == 0 && output_make(&o, &err) == 0 && write(ends[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void left_by_killed_writers(void **state)
{
	pid_t one = writer(), two = writer();

	assert_int_equal(entries(folder), 2);
	/* the first one's goes, the other one writes yet */
	end(one);
	assert_int_equal(result("text", OUTPUT_HIDDEN), 0);
	assert_int_equal(entries(folder), 2);
	holds(path, "text");
	output_drop(&o);
	end(two);
	assert_int_equal(result("more", OUTPUT_HIDDEN), 0);
	assert_int_equal(entries(folder), 1);
	holds(path, "more");
}

/* What only looks like one: other names, links, folders, files with a second name, files of others. */
static void left_without_writer(void **state)
{
	static const char *const names[] = {".out.txt.0123456789abcde.new", ".out.txt.0123456789abcdeF.new",
					    ".out.txt.0123456789abcdef0.new", ".out.txt.0123456789abcdef.new~",
					    ".other.txt.0123456789abcdef.new", "out.txt.0123456789abcdef.new"};
	char name[160], second[160];
	unsigned i, n = 0;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++, n++) {
		snprintf(name, sizeof(name), "%s/%s", folder, names[i]);
		put(name, "kept", 0600);
	}
	snprintf(second, sizeof(second), "%s/.out.txt.0000000000000001.new", folder);
	assert_int_equal(symlink(name, second), 0);
	snprintf(second, sizeof(second), "%s/.out.txt.0000000000000002.new", folder);
	assert_int_equal(mkdir(second, 0700), 0);
	snprintf(second, sizeof(second), "%s/.out.txt.0000000000000003.new", folder);
	assert_int_equal(link(name, second), 0);
	snprintf(second, sizeof(second), "%s/.out.txt.0000000000000004.new", folder);
	assert_int_equal(mkfifo(second, 0600), 0);
	n += 4;
	if (root()) {
		snprintf(second, sizeof(second), "%s/.out.txt.0000000000000005.new", folder);
		put(second, "theirs", 0666);
		assert_int_equal(chown(second, STRANGER, STRANGER), 0);
		n++;
	}
	snprintf(second, sizeof(second), "%s/.out.txt.0000000000000006.new", folder);
	put(second, "ours", 0600); /* and this one goes */
	assert_int_equal(result("text", OUTPUT_HIDDEN), 0);
	assert_int_equal(entries(folder), n + 1);
	assert_int_equal(access(second, F_OK), -1);
}

/* A link leads to the root, and no descriptor is left for the way there: refused, and not looked for beside the link. */
static void no_descriptors(void **state)
{
	struct rlimit before, few;
	struct stat root, found;
	unsigned n;
	int rc, fd;

	assert_int_equal(symlink("/jstrobe-is-not-there", path), 0);
	assert_int_equal(stat("/", &root), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (n = 0, rc = -1; n < 8 && rc; n++) {
		fd = dup(0);
		assert_true(fd >= 0);
		close(fd);
		few = before;
		few.rlim_cur = (rlim_t)fd + n;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		rc = find(0);
		setrlimit(RLIMIT_NOFILE, &before);
		if (rc)
			assert_int_equal(err.code, EMFILE);
	}
	assert_int_equal(rc, 0);
	assert_true(n > 2);
	assert_int_equal(fstat(o.folder, &found), 0);
	assert_int_equal(found.st_ino, root.st_ino);
	assert_int_equal(found.st_dev, root.st_dev);
}

static void modes(void **state)
{
	static const struct {
		mode_t umask, mode, is;
	} cases[] = {{0, 0, 0600}, {022, 0, 0600}, {0277, 0, 0400}, {077, 0644, 0644}, {0, 0640, 0640}};
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		umask(cases[i].umask);
		output_drop(&o);
		o.mode = cases[i].mode;
		assert_int_equal(output_find(&o, path, 0, &err), 0);
		assert_int_equal(output_make(&o, &err), 0);
		assert_int_equal(output_publish(&o, false, &err), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, cases[i].is);
		umask(022);
	}
}

static void links(void **state)
{
	char other[96], text[128];
	int i;

	snprintf(other, sizeof(other), "%s/other", folder);
	put(other, "old", 0600);
	assert_int_equal(symlink("other", path), 0);
	assert_int_equal(result("one", 0), 0);
	holds(other, "one");
	/* one that leads nowhere yet; through a folder, from / on, and back */
	unlink(path);
	snprintf(text, sizeof(text), "%s/../%s/./other", folder, strrchr(folder, '/') + 1);
	unlink(other);
	assert_int_equal(symlink(text, path), 0);
	assert_int_equal(result("two", 0), 0);
	holds(other, "two");
	/* in a circle */
	unlink(path);
	unlink(other);
	assert_int_equal(symlink("out.txt", path), 0);
	assert_int_equal(find(0), -ELOOP);
	for (i = 0; i < 2 && root(); i++) {
		unlink(path);
		put(other, "old", 0600);
		assert_int_equal(symlink(i ? "/etc" : "other", path), 0);
		assert_int_equal(lchown(path, STRANGER, STRANGER), 0);
		assert_int_equal(find(0), -ELOOP);
		assert_non_null(strstr(err.text, "12345"));
		/* who insists gets there, and a folder on the way is no better than a file */
		assert_int_equal(find(OUTPUT_FORCE), i ? -EISDIR : 0);
		snprintf(text, sizeof(text), "%s/passwd", path);
		output_drop(&o);
		assert_int_equal(output_find(&o, text, 0, &err), -ELOOP);
		holds(other, "old");
	}
}

static void who_called_sudo(void **state)
{
	char other[96];

	if (!root())
		return;
	snprintf(other, sizeof(other), "%s/other", folder);
	assert_int_equal(symlink("other", path), 0);
	assert_int_equal(lchown(path, STRANGER, STRANGER), 0);
	setenv("SUDO_UID", "12345", 1);
	assert_int_equal(find(0), -ELOOP);
	assert_int_equal(find(OUTPUT_SUDO), 0);
	setenv("SUDO_UID", "12346", 1);
	assert_int_equal(find(OUTPUT_SUDO), -ELOOP);
	unsetenv("SUDO_UID");
}

static void files_of_others(void **state)
{
	if (!root())
		return;
	put(path, "theirs", 0666);
	assert_int_equal(chown(path, STRANGER, STRANGER), 0);
	chmod(folder, 01777);
	assert_int_equal(find(0), -EPERM);
	assert_non_null(strstr(err.text, "--force"));
	holds(path, "theirs");
	assert_int_equal(find(OUTPUT_FORCE), 0);
	chmod(folder, 0777);
	assert_int_equal(find(0), -EPERM);
	/* in a folder that only its owner writes to it is what the owner wants */
	chmod(folder, 0755);
	assert_int_equal(result("ours", 0), 0);
	holds(path, "ours");
}

static void no_files(void **state)
{
	int reader, other;

	assert_int_equal(mkfifo(path, 0666), 0);
	assert_int_equal(find(0), -EPERM);
	assert_non_null(strstr(err.text, "FIFO"));
	assert_int_equal(find(OUTPUT_FIFO), 0);
	assert_int_equal(o.kind, OUTPUT_SPECIAL);
	assert_int_equal(output_make(&o, &err), -ENXIO);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(output_make(&o, &err), 0);
	assert_true(fcntl(o.fd, F_GETFL) & O_NONBLOCK);
	/* another one has come there since it was looked at */
	assert_int_equal(find(OUTPUT_FORCE), 0);
	unlink(path);
	assert_int_equal(mkfifo(path, 0666), 0);
	other = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(output_make(&o, &err), -ESTALE);
	close(other);
	close(reader);
	if (root()) {
		assert_int_equal(chown(path, STRANGER, STRANGER), 0);
		assert_int_equal(find(OUTPUT_FIFO), -EPERM);
	}
	output_drop(&o);
	assert_int_equal(output_find(&o, "/dev/null", 0, &err), 0);
	assert_int_equal(o.kind, OUTPUT_SPECIAL);
	output_drop(&o);
	assert_int_equal(output_find(&o, folder, 0, &err), -EISDIR);
	assert_int_equal(output_find(&o, "/nowhere/at/all", 0, &err), -ENOENT);
	assert_non_null(strstr(err.text, "there is no folder /nowhere/at"));
}

/* A container's root makes one where our result goes: whose it is says nothing. */
static void devices(void **state)
{
	int fd;

	if (!root())
		return;
	if (mknod(path, S_IFCHR | 0666, makedev(1, 7))) {
		print_message("devices cannot be made here: not tested\n");
		return;
	}
	assert_int_equal(find(0), -EPERM);
	assert_non_null(strstr(err.text, "device"));
	assert_int_equal(find(OUTPUT_FIFO), -EPERM);
	assert_int_equal(output_append(path, 0, &err), -EPERM);
	assert_int_equal(find(OUTPUT_FORCE), 0);
	unlink(path);
	assert_int_equal(mknod(path, S_IFCHR | 0666, makedev(1, 3)), 0);
	assert_int_equal(find(0), 0);
	/* the same file, another device: where numbers of files are used again */
	o.special = makedev(1, 7);
	assert_int_equal(output_make(&o, &err), -ESTALE);
	output_drop(&o);
	assert_int_equal(output_find(&o, "/dev/full", 0, &err), 0);
	output_drop(&o);
	fd = posix_openpt(O_RDWR | O_NOCTTY);
	if (fd >= 0 && strncmp(ptsname(fd), "/dev/pts/", 9) == 0)
		assert_int_equal(output_find(&o, ptsname(fd), 0, &err), 0);
	if (fd >= 0)
		close(fd);
}

static void inherited(void **state)
{
	static const struct {
		const char *name;
		int number;
	} names[] = {{"-", 1}, {"/dev/stdout", 1}, {"/dev/stderr", 2}, {"/dev/fd/63", 63}, {"/proc/self/fd/7", 7},
		     {"/dev/fd/", -1}, {"/dev/fd/x", -1}, {"/dev/fd/1/x", -1}, {"/dev/null", -1}, {"out-", -1}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		assert_int_equal(output_inherited(names[i].name), names[i].number);
	assert_int_equal(output_find(&o, "/dev/fd/999", 0, &err), 0);
	assert_int_equal(output_make(&o, &err), -EBADF);
}

/* The folder is another one when the result is written: it goes into the first. */
static void folders_are_exchanged(void **state)
{
	char inner[96], moved[96], name[112];

	snprintf(inner, sizeof(inner), "%s/inner", folder);
	snprintf(moved, sizeof(moved), "%s/moved", folder);
	snprintf(name, sizeof(name), "%s/out.txt", inner);
	assert_int_equal(mkdir(inner, 0700), 0);
	assert_int_equal(output_find(&o, name, 0, &err), 0);
	assert_int_equal(rename(inner, moved), 0);
	assert_int_equal(symlink("/etc", inner), 0);
	assert_int_equal(output_make(&o, &err), 0);
	assert_int_equal(output_publish(&o, false, &err), 0);
	assert_int_not_equal(access("/etc/out.txt", F_OK), 0);
	snprintf(name, sizeof(name), "%s/out.txt", moved);
	holds(name, "");
}

/* The name is taken by what cannot be replaced: nothing is lost, or nothing is left. */
static void names_are_taken(void **state)
{
	char name[512];

	assert_int_equal(find(0), 0);
	assert_int_equal(output_make(&o, &err), 0);
	assert_int_equal(write(o.fd, "kept", 4), 4);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(output_publish(&o, true, &err), -EISDIR);
	assert_true(strncmp(o.name, "out-", 4) == 0 && strcmp(o.name + 12, ".txt") == 0);
	assert_non_null(strstr(err.text, o.name));
	snprintf(name, sizeof(name), "%s/%s", folder, o.name);
	output_drop(&o);
	holds(name, "kept");
	assert_int_equal(entries(folder), 2);
	unlink(name);
	rmdir(path);
	assert_int_equal(find(0), 0);
	assert_int_equal(output_make(&o, &err), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(output_publish(&o, false, &err), -EISDIR);
	output_drop(&o);
	assert_int_equal(entries(folder), 1);
	rmdir(path);
}

/* A file that has come to be since it was looked for stays: its owner was not asked. One that was there is replaced. */
static void what_came_meanwhile_stays(void **state)
{
	char name[512];

	assert_int_equal(find(OUTPUT_ASKED), 0);
	assert_int_equal(output_make(&o, &err), 0);
	assert_int_equal(write(o.fd, "kept", 4), 4);
	put(path, "precious", 0600);
	assert_int_equal(output_publish(&o, true, &err), -EEXIST);
	snprintf(name, sizeof(name), "%s/%s", folder, o.name);
	assert_non_null(strstr(err.text, o.name));
	output_drop(&o);
	holds(name, "kept");
	holds(path, "precious");
	unlink(name);
	assert_int_equal(find(OUTPUT_ASKED), 0);
	assert_int_equal(output_make(&o, &err), 0);
	assert_int_equal(write(o.fd, "new", 3), 3);
	assert_int_equal(output_publish(&o, true, &err), 0);
	output_drop(&o);
	holds(path, "new");
	unlink(path);
}

/* Without /proc no file without a name can get one: it has a hidden one from the start. */
static void without_proc(void **state)
{
	int status;
	pid_t child;

	if (!root())
		return;
	child = fork();
	if (child == 0) {
		if (chroot(folder) || chdir("/"))
			_exit(1);
		if (output_find(&o, "/out.txt", 0, &err) || output_make(&o, &err) || !o.aside[0])
			_exit(2);
		if (write(o.fd, "kept", 4) != 4 || output_publish(&o, false, &err))
			_exit(3);
		output_drop(&o);
		if (output_find(&o, "/out.txt", 0, &err) || output_make(&o, &err))
			_exit(4);
		output_drop(&o);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	holds(path, "kept");
	assert_int_equal(entries(folder), 1);
}

static void appended(void **state)
{
	char secret[96];
	int i, fd;

	for (i = 0; i < 2; i++) {
		fd = output_append(path, 0, &err);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, "line\n", 5), 5);
		close(fd);
	}
	holds(path, "line\nline\n");
	if (root()) {
		chmod(folder, 01777);
		assert_int_equal(chown(path, STRANGER, STRANGER), 0);
		assert_int_equal(output_append(path, 0, &err), -EPERM);
		holds(path, "line\nline\n");
	}
	assert_int_equal(chmod(folder, 0700), 0);
	/* a file of ours that another user has linked here */
	snprintf(secret, sizeof(secret), "%s/secret", folder);
	put(secret, "ours\n", 0600);
	unlink(path);
	assert_int_equal(link(secret, path), 0);
	fd = output_append(path, 0, &err);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chmod(folder, 01777), 0);
	assert_int_equal(output_append(path, 0, &err), -EPERM);
	assert_non_null(strstr(err.text, "other names"));
	holds(secret, "ours\n");
	fd = output_append(path, OUTPUT_FORCE, &err);
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	assert_int_equal(mkfifo(path, 0666), 0);
	assert_int_equal(output_append(path, 0, &err), -EPERM);
}

/* ---- readers ---- */

static int memory(size_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	return fd;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void a_reader_that_sleeps(void **state)
{
	struct output_limits limits = {.stalled_ms = 200, .wake = -1};
	int from = memory(1 << 20), ends[2], reader, wake[2];
	uint64_t done = 0;
	double began = now();

	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(find(OUTPUT_FORCE), 0);
	assert_int_equal(output_make(&o, &err), 0);
	assert_int_equal(output_copy(&o, from, 1 << 20, &limits, &done, &err), -ETIMEDOUT);
	assert_true(now() - began >= 0.2);
	assert_true(done > 0 && done < 1 << 20);
	assert_non_null(strstr(err.text, "of 1048576 bytes"));
	/* a signal ends it at once */
	assert_int_equal(pipe(wake), 0);
	assert_int_equal(write(wake[1], "x", 1), 1);
	limits = (struct output_limits){.stalled_ms = 600000, .wake = wake[0]};
	assert_int_equal(output_copy(&o, from, 1 << 20, &limits, &done, &err), -EINTR);
	assert_int_equal(done, 0);
	close(reader);
	assert_int_equal(output_copy(&o, from, 1 << 20, &limits, &done, &err), -EINTR);
	limits.wake = -1;
	assert_int_equal(output_copy(&o, from, 1 << 20, &limits, &done, &err), -EPIPE);
	/* a descriptor that others have, too, keeps its mode */
	assert_int_equal(pipe(ends), 0);
	output_drop(&o);
	o = (struct output){.kind = OUTPUT_OPEN, .fd = dup(ends[1]), .folder = -1, .shares = true, .type = S_IFIFO};
	limits.stalled_ms = 100;
	assert_int_equal(output_copy(&o, from, 1 << 20, &limits, &done, &err), -ETIMEDOUT);
	assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
	close(ends[0]);
	close(ends[1]);
	close(wake[0]);
	close(wake[1]);
	close(from);
}

/* Read what is there, without waiting for more. */
static size_t read_there(int fd, char *to, size_t size)
{
	ssize_t n;

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	n = read(fd, to, size);
	return n > 0 ? (size_t)n : 0;
}

/* A line goes whole or not at all, and never waits; the descriptor's mode, which others share, stays as it is. */
static void lines(void **state)
{
	int kind, ends[2], fd;
	char bytes[1 << 16];
	size_t n;

	for (kind = 0; kind < 2; kind++) {
		assert_int_equal(kind ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends), 0);
		assert_true(output_line(ends[1], "one\n", 4, 60000));
		assert_int_equal(read_there(ends[0], bytes, sizeof(bytes)), 4);
		/* full, as of a reader that sleeps */
		memset(bytes, 'x', sizeof(bytes));
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
		for (n = sizeof(bytes); n > 0; n /= 2)
			while (write(ends[1], bytes, n) > 0)
				;
		fcntl(ends[1], F_SETFL, 0);
		alarm(60);
		assert_false(output_line(ends[1], "two\n", 4, 0));
		assert_false(output_line(ends[1], "two\n", 4, 20));
		alarm(0);
		assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
		while (read_there(ends[0], bytes, sizeof(bytes)))
			assert_null(memchr(bytes, 't', sizeof(bytes)));
		assert_true(output_line(ends[1], "three\n", 6, 60000));
		assert_int_equal(read_there(ends[0], bytes, sizeof(bytes)), 6);
		/* the reader is gone */
		close(ends[0]);
		assert_false(output_line(ends[1], "four\n", 5, 60000));
		close(ends[1]);
		assert_false(output_line(ends[1], "five\n", 5, 60000));
	}
	put(path, "", 0600);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_true(output_line(fd, "one\n", 4, 60000));
	close(fd);
	holds(path, "one\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(appears_when_it_is_whole), TEST(dropped), TEST(left_by_killed_writers), TEST(left_without_writer), TEST(no_descriptors), TEST(modes), TEST(links),
		TEST(who_called_sudo), TEST(files_of_others), TEST(no_files), TEST(devices), TEST(inherited), TEST(folders_are_exchanged),
		TEST(names_are_taken), TEST(what_came_meanwhile_stays), TEST(without_proc), TEST(appended), TEST(lines),
		TEST(a_reader_that_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
