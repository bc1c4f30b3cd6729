/* What the command reads of other processes before it attaches, hostile files included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/process.h"

static struct error err;

static void status_of_ourselves(void **state)
{
	struct process_status s;

	assert_int_equal(process_status(getpid(), &s), 0);
	assert_int_equal(s.tgid, getpid());
	assert_int_equal(s.uid, geteuid());
	assert_int_equal(s.gid, getegid());
	assert_int_equal(s.state, 'R');
}

static void processes_that_are_gone(void **state)
{
	struct process_status s;
	struct attach_target t;
	siginfo_t ended;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	/* a zombie first, then nothing */
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	assert_int_equal(attach_check(pid, -1, &t, &err), -ESRCH);
	assert_non_null(strstr(err.text, "zombie"));
	waitpid(pid, NULL, 0);
	assert_int_equal(process_status(pid, &s), -ESRCH);
	assert_int_equal(attach_check(pid, -1, &t, &err), -ESRCH);
	assert_int_equal(t.pidfd, -1);
}

static void no_jvm(void **state)
{
	enum process_vm vm;
	char libjvm[PATH_MAX];
	struct attach_target t;

	assert_int_equal(process_vm(getpid(), &vm, libjvm), 0);
	assert_int_equal(vm, PROCESS_NO_VM);
	assert_int_equal(attach_check(getpid(), -1, &t, &err), -ENOTSUP);
	assert_true(attach_has_library(getpid(), "libc.so.6"));
	assert_false(attach_has_library(getpid(), "libjvm.so"));
}

static void numbers_and_names(void **state)
{
	pid_t pid = 0;

	assert_int_equal(attach_resolve("123", &pid, &err), 0);
	assert_int_equal(pid, 123);
	assert_int_equal(attach_resolve("0", &pid, &err), -ESRCH);
	assert_int_equal(attach_resolve("-5", &pid, &err), -ESRCH);
	assert_int_equal(attach_resolve("99999999999999999999", &pid, &err), -ESRCH);
	assert_int_equal(attach_resolve("no-such-jvm-anywhere", &pid, &err), -ESRCH);
}

/* ---- performance data -------------------------------------------------------------- */

static char folder[64], file[96];

static int make_folder(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/hsperfdata_jstrobe-test-%d", (int)getpid());
	snprintf(file, sizeof(file), "%s/%d", folder, (int)getpid());
	return mkdir(folder, 0700);
}

static int remove_folder(void **state)
{
	unlink(file);
	return rmdir(folder);
}

static void write_file(const void *bytes, size_t length)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), (ssize_t)length);
	close(fd);
}

/* Append an entry with a string; the new length. */
static size_t put_entry(unsigned char *bytes, size_t at, const char *name, const char *value)
{
	uint32_t name_at = 20, data_at = 20 + (uint32_t)strlen(name) + 1;
	uint32_t length = data_at + (uint32_t)strlen(value) + 1;

	memset(bytes + at, 0, 20);
	memcpy(bytes + at, &length, 4);
	memcpy(bytes + at + 4, &name_at, 4);
	memcpy(bytes + at + 16, &data_at, 4);
	strcpy((char *)bytes + at + name_at, name);
	strcpy((char *)bytes + at + data_at, value);
	return at + length;
}

static size_t good_file(unsigned char *bytes)
{
	uint32_t first = 32, entries = 3;
	size_t n = 32;

	memset(bytes, 0, 32);
	memcpy(bytes, "\xca\xfe\xc0\xc0\x01", 5);
	memcpy(bytes + 24, &first, 4);
	memcpy(bytes + 28, &entries, 4);
	n = put_entry(bytes, n, "java.property.x", "y");
	n = put_entry(bytes, n, "sun.rt.javaCommand", "com.example.Main arg -Xrs");
	return put_entry(bytes, n, "java.rt.vmArgs", "-Xmx1g -XX:+DisableAttachMechanism");
}

static void performance_data(void **state)
{
	unsigned char bytes[512];
	struct process_status s;
	struct process_perfdata p;
	struct process_java java;

	assert_int_equal(process_status(getpid(), &s), 0);
	assert_false(process_perfdata(getpid(), &s, &p));
	write_file(bytes, good_file(bytes));
	assert_true(process_perfdata(getpid(), &s, &p));
	assert_string_equal(p.main, "com.example.Main");
	assert_string_equal(p.arguments, "-Xmx1g -XX:+DisableAttachMechanism");
	process_java(getpid(), &s, &java);
	assert_string_equal(java.main, "com.example.Main");
	assert_true(java.attach_disabled);
	assert_false(java.reduced_signals); /* that was an argument of the program */
}

/* Cut anywhere, any byte changed: never a read outside (the sanitizers watch). */
static void hostile_performance_data(void **state)
{
	unsigned char good[512], bytes[512];
	size_t n = good_file(good), i;
	struct process_status s;
	struct process_perfdata p;
	unsigned seed = 7, round;

	assert_int_equal(process_status(getpid(), &s), 0);
	for (i = 0; i <= n; i++) {
		write_file(good, i);
		process_perfdata(getpid(), &s, &p);
	}
	for (round = 0; round < 3000; round++) {
		int changes = rand_r(&seed) % 4 + 1;

		memcpy(bytes, good, n);
		while (changes-- > 0)
			bytes[4 + (size_t)rand_r(&seed) % (n - 4)] =
				(unsigned char)(rand_r(&seed) % 3 ? rand_r(&seed) : 0xff);
		write_file(bytes, n);
		process_perfdata(getpid(), &s, &p);
		assert_true(strlen(p.main) < sizeof(p.main));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_of_ourselves),
		cmocka_unit_test(processes_that_are_gone),
		cmocka_unit_test(no_jvm),
		cmocka_unit_test(numbers_and_names),
		cmocka_unit_test_setup_teardown(performance_data, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(hostile_performance_data, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
