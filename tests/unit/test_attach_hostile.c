/*
 * What the command reads of processes that are hostile: files that are none, that have no end, that change while they
 * are read; and looks that hang. Two of the files are part of this one, so that their inner functions can be called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/attach/java_command.c"
#include "cli/attach/perfdata.c"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "cli/attach/attach.h"
#include "cli/attach/process.h"
#include "hostile.h"

static struct error err;

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static unsigned counted(unsigned few, unsigned many)
{
	return getenv("JSTROBE_SOAK") ? many : few;
}

/* ---- files that are none ------------------------------------------------------------- */

static char folder[64];

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/jstrobe-hostile-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static const char *in_folder(const char *name)
{
	static char path[8][200];
	static unsigned next;
	char *p = path[next++ % 8];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static void make_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* None of them is opened, so none can hang or be set off by opening. */
static void no_files(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int sock = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/socket", folder);
	assert_int_equal(bind(sock, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	make_file(in_folder("file"), "x");
	assert_int_equal(symlink("file", in_folder("link")), 0);
	assert_true(foreign_open(AT_FDCWD, in_folder("fifo")) < 0);
	assert_true(foreign_open(AT_FDCWD, in_folder("socket")) < 0);
	assert_true(foreign_open(AT_FDCWD, in_folder("link")) < 0);
	assert_true(foreign_open(AT_FDCWD, folder) < 0);
	assert_true(foreign_open(AT_FDCWD, "/dev/zero") < 0);
	assert_true(foreign_open(AT_FDCWD, in_folder("nothing")) < 0);
	close(sock);
}

/* 8 TB without a byte: what is read has a limit. The JDK's version then is not known. */
static void sparse_files(void **state)
{
	char jdk[48], bytes[5000];
	double begun = seconds();
	int fd;

	assert_int_equal(mkdir(in_folder("jdk"), 0700), 0);
	fd = open(in_folder("jdk/release"), O_CREAT | O_RDWR, 0600);
	/* not each file system has room for such a name */
	if (ftruncate(fd, 1ll << 43) && ftruncate(fd, 1ll << 40))
		print_message("8 TB: not run (%s)\n", strerror(errno));
	assert_int_equal(foreign_read(fd, bytes, sizeof(bytes)), sizeof(bytes) - 1);
	process_jdk(getpid(), in_folder("jdk/lib/server/libjvm.so"), "", jdk, sizeof(jdk));
	assert_string_equal(jdk, "?");
	close(fd);
	assert_true(seconds() - begun < 30);
}

struct changing {
	int fd;
	volatile bool stop;
};

/* The file grows and shrinks, in steps of pages. */
static void *change(void *arg)
{
	struct changing *c = arg;
	unsigned seed = 3;

	while (!c->stop)
		if (ftruncate(c->fd, (off_t)(rand_r(&seed) % 64) * 4096))
			break;
	return NULL;
}

static void files_that_change(void **state)
{
	struct changing c = {.fd = open(in_folder("changing"), O_CREAT | O_RDWR, 0600)};
	char *bytes = malloc(FILE_MAX);
	pthread_t thread;
	int i;

	assert_true(c.fd >= 0);
	assert_int_equal(pthread_create(&thread, NULL, change, &c), 0);
	for (i = 0; i < 500; i++) {
		ssize_t n = foreign_read(c.fd, bytes, FILE_MAX);

		assert_true(n >= 0 && n < FILE_MAX);
		assert_int_equal(bytes[n], 0);
	}
	c.stop = true;
	pthread_join(thread, NULL);
	close(c.fd);
	free(bytes);
}

/* ---- lines --------------------------------------------------------------------------- */

static int file_of(const char *bytes, size_t n)
{
	int fd = memfd_create("lines", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void lines(void **state)
{
	char *big = malloc(1 << 20);
	struct foreign_lines l;
	unsigned n = 0;
	char *line;

	foreign_lines_open(&l, file_of("one\n\nthree", 10), 100);
	assert_string_equal(foreign_line(&l), "one");
	assert_string_equal(foreign_line(&l), "");
	assert_string_equal(foreign_line(&l), "three");
	assert_null(foreign_line(&l));
	assert_int_equal(l.failed, 0);
	foreign_lines_close(&l);
	/* one that is too long is left out; those around it are there */
	memset(big, 'x', 1 << 20);
	memcpy(big, "first\n", 6);
	memcpy(big + (1 << 20) - 6, "\nlast\n", 6);
	foreign_lines_open(&l, file_of(big, 1 << 20), 2 << 20);
	assert_string_equal(foreign_line(&l), "first");
	assert_string_equal(foreign_line(&l), "last");
	assert_null(foreign_line(&l));
	foreign_lines_close(&l);
	/* lines without an end */
	memset(big, '\n', 1 << 20);
	foreign_lines_open(&l, file_of(big, 1 << 20), 1000);
	while ((line = foreign_line(&l)))
		n++;
	assert_int_equal(n, 1000);
	assert_int_equal(l.failed, EFBIG);
	foreign_lines_close(&l);
	free(big);
}

struct method_identities {
	char paths[8][100];
	bool old[8];
	unsigned count;
};

static bool see(const char *path, bool old, void *arg)
{
	struct method_identities *s = arg;

	if (s->count < 8) {
		snprintf(s->paths[s->count], sizeof(s->paths[0]), "%s", path);
		s->old[s->count] = old;
	}
	s->count++;
	return true;
}

static void memory_maps(void **state)
{
	static const char text[] = "7f00-7f01 r-xp 00000000 08:01 12     /usr/lib/libjvm.so\n"
				   "7f01-7f02 rw-p 00000000 00:00 0 \n7f02-7f03 rw-p 00000000 00:00 0   [stack]\n"
				   "7f03-7f04 r-xp 00000000 08:01 12     /a (deleted)/libjvm.so\n"
				   "7f04-7f05 r-xp 00000000 08:01 12     /b/libjvm.so (deleted)\n"
				   "7f05-7f06 r-xp 00000000 08:01 12     /with\\012line";
	struct method_identities s = {.count = 0};

	assert_int_equal(maps_each(file_of(text, sizeof(text) - 1), see, &s), 0);
	assert_int_equal(s.count, 4);
	assert_string_equal(s.paths[0], "/usr/lib/libjvm.so");
	assert_string_equal(s.paths[1], "/a (deleted)/libjvm.so");
	assert_false(s.old[1]);
	assert_string_equal(s.paths[2], "/b/libjvm.so");
	assert_true(s.old[2]);
	assert_string_equal(s.paths[3], "/with\\012line");
}

/* Millions of mappings: a limit in bytes, and in time. */
static void endless_memory_maps(void **state)
{
	char piece[65536];
	int fd = memfd_create("maps", MFD_CLOEXEC), i;
	struct method_identities s = {.count = 0};
	double begun = seconds();

	for (i = 0; i + 64 <= (int)sizeof(piece); i += 64)
		memcpy(piece + i, "7f00000-7f00001 r-xp 00000000 08:01 12          /usr/lib/x.so\n\n\n", 64);
	for (i = 0; i < 1200; i++)
		assert_int_equal(write(fd, piece, sizeof(piece)), (ssize_t)sizeof(piece));
	lseek(fd, 0, SEEK_SET);
	i = maps_each(fd, see, &s);
	assert_true(i == -EFBIG || i == -ETIME);
	assert_true(s.count < 1100000 && seconds() - begun < 30);
}

/* ---- contents, mutated ------------------------------------------------------------------ */

/* TEXT[0..N) with some bytes changed, cut, or doubled, exactly as long as its contents, with a NUL behind. */
static char *mutated(struct hostile *h, const char *text, size_t n, size_t *length)
{
	char *copy = malloc(2 * n + 1);
	unsigned changes = 1 + hostile_below(h, 8);
	size_t at, more;

	memcpy(copy, text, n);
	while (n && changes--) {
		at = hostile_below(h, (uint32_t)n);
		more = hostile_below(h, 40);
		more = MIN(n - at, more);
		switch (hostile_below(h, 6)) {
		case 0:
			n = at;
			break;
		case 1:
			memmove(copy + at, copy + at + more, n - at - more);
			n -= more;
			break;
		case 2:
			memset(copy + at, hostile_below(h, 3) ? 0xff : 0, more);
			break;
		default:
			copy[at] = (char)hostile_below(h, 256);
		}
	}
	copy = realloc(copy, n + 1);
	copy[n] = '\0';
	*length = n;
	return copy;
}

static const char status_text[] =
	"Name:\tjava\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t17\nNgid:\t0\nPid:\t17\nPPid:\t1\nTracerPid:\t0\n"
	"Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nFDSize:\t256\nGroups:\t0 1 2 3 4 \nNStgid:\t17\t3\nNSpid:\t17\t3\nThreads:\t9\n"
	"SigQ:\t5/95744\nSigIgn:\t0000000000000000\nSigCgt:\t0000000381005ccf\nCapEff:\t000001ffffffffff\nSeccomp:\t2\n";
static const char environ_text[] =
	"PATH=/bin\0JAVA_TOOL_OPTIONS=-Xrs \"-Dx=y z\" -XX:+DisableAttachMechanism\0_JAVA_OPTIONS=-Xmx1g\0JDK_JAVA_OPTIONS=";
static const char command_text[] =
	"/usr/bin/java\0-cp\0x.jar\0-Xrs\0@file\0--module-path\0y\0-m\0mod/com.example.Main\0arg";
static const char release_text[] = "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.15\"\nJAVA_VERSION_DATE=\"2025\"\n";

/* A file of performance data with three entries. */
static size_t perfdata_text(char *bytes)
{
	static const char *const entries[][2] = {
		{"java.property.x", "y"}, {"sun.rt.javaCommand", "com.example.Main arg"}, {"java.rt.vmArgs", "-Xmx1g"},
	};
	uint32_t first = 32, count = ARRAY_LEN(entries), name_at = 20, data_at, length;
	size_t at = 32, i;

	memset(bytes, 0, 512);
	memcpy(bytes, "\xca\xfe\xc0\xc0\x01", 5);
	memcpy(bytes + 24, &first, 4);
	memcpy(bytes + 28, &count, 4);
	for (i = 0; i < count; i++) {
		data_at = name_at + (uint32_t)strlen(entries[i][0]) + 1;
		length = data_at + (uint32_t)strlen(entries[i][1]) + 1;
		memcpy(bytes + at, &length, 4);
		memcpy(bytes + at + 4, &name_at, 4);
		memcpy(bytes + at + 16, &data_at, 4);
		strcpy(bytes + at + name_at, entries[i][0]);
		strcpy(bytes + at + data_at, entries[i][1]);
		at += length;
	}
	return at;
}

static void parse_each(struct hostile *h, const char *perfdata, size_t perfdata_length)
{
	struct process_java java = {.main = "?"};
	struct process_status s;
	char jdk[48] = "?", *text;
	const char *found;
	size_t n;

	text = mutated(h, status_text, sizeof(status_text) - 1, &n);
	process_status_parse(text, 17, &s);
	assert_true(s.group_count <= USER_GROUPS);
	free(text);
	text = mutated(h, release_text, sizeof(release_text) - 1, &n);
	process_release(text, jdk, sizeof(jdk));
	assert_true(strlen(jdk) < sizeof(jdk));
	free(text);
	text = mutated(h, environ_text, sizeof(environ_text), &n);
	read_environment(text, n, "JAVA_TOOL_OPTIONS", &java);
	free(text);
	text = mutated(h, command_text, sizeof(command_text), &n);
	read_arguments(text, n, &java);
	assert_true(strlen(java.main) < sizeof(java.main));
	free(text);
	text = mutated(h, perfdata, perfdata_length, &n);
	found = find(text, n, "sun.rt.javaCommand");
	assert_true(!found || strlen(found) < n);
	free(text);
}

static void mutated_contents(void **state)
{
	static const char maps[] = "7f00-7f01 r-xp 00000000 08:01 12   /usr/lib/libjvm.so (deleted)\n7f01-7f02 r 0 0 /x\n";
	unsigned i, n = counted(20000, 1000000);
	struct hostile h = {.seed = 0};
	char perfdata[512], *text;
	size_t length = perfdata_text(perfdata), size;

	for (i = 0; i < n; i++) {
		h.seed = i;
		parse_each(&h, perfdata, length);
		if (i % 10)
			continue;
		text = mutated(&h, maps, sizeof(maps) - 1, &size);
		maps_each(file_of(text, size), see, &(struct method_identities){.count = 0});
		free(text);
	}
}

/* ---- a file system of theirs --------------------------------------------------------------- */

/* Something called NAME in FOLDER, drawn. */
static void make_something(struct hostile *h, const char *name)
{
	static const char *const links[] = {"/etc/passwd", "../../../../../../etc", ".", "loop", "/proc/self/root/etc",
					    "release", "lib", "/dev/zero", "/proc/self/fd/0"};
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s", in_folder(name));
	switch (hostile_below(h, 7)) {
	case 0:
		fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd >= 0 && write(fd, "JAVA_VERSION=\"1\"\n", 17) == 17 && hostile_below(h, 2))
			assert_int_equal(ftruncate(fd, 1 << 30), 0);
		if (fd >= 0)
			close(fd);
		break;
	case 1:
		mkfifo(path, 0600);
		break;
	case 2:
		if (mknod(path, S_IFCHR | 0600, 1 << 8 | 5)) /* /dev/zero */
			mkdir(path, 0700);
		break;
	case 3:
		mkdir(path, hostile_below(h, 2) ? 0700 : 0);
		break;
	case 4:
		if (symlink(path, path))
			return; /* a link to itself */
		break;
	case 5:
		break; /* nothing there */
	default:
		if (symlink(links[hostile_below(h, ARRAY_LEN(links))], path))
			return;
	}
}

static void mutated_folders(void **state)
{
	static const char *const names[] = {"tmp", "tmp/hsperfdata_x", "tmp/hsperfdata_x/1", "jdk", "jdk/release", "jdk/lib",
					    "jdk/lib/release", "jdk/lib/server", "jdk/lib/server/release", "loop"};
	unsigned i, k, n = counted(150, 5000);
	struct hostile h = {.seed = 0};
	char *bytes = malloc(FILE_MAX);
	struct user user;

	assert_int_equal(user_of(getpid(), &user), 0);
	for (i = 0; i < n; i++) {
		struct root root = {.fd = -1, .user = user};
		int fd;

		h.seed = i;
		make_folder(NULL);
		for (k = 0; k < ARRAY_LEN(names); k++)
			if (hostile_below(&h, 3) == 0 || mkdir(in_folder(names[k]), 0700))
				make_something(&h, names[k]);
		root.fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
		assert_true(root.fd >= 0);
		for (k = 0; k < ARRAY_LEN(names); k++) {
			snprintf(bytes, FILE_MAX, "/%s", names[k]);
			fd = root_read(&root, bytes);
			if (fd < 0)
				continue;
			/* never out of the folder: of its files only one has contents */
			assert_true(foreign_read(fd, bytes, FILE_MAX) >= 0);
			assert_true(!bytes[0] || strncmp(bytes, "JAVA_VERSION=\"1\"\n", 17) == 0);
			close(fd);
		}
		search(&root, getpid(), 1, user.uid, bytes);
		root_close(&root);
		remove_folder(NULL);
	}
	make_folder(NULL);
	free(bytes);
}

/* ---- looks that hang -------------------------------------------------------------------------- */

#define TARGETS 12

struct looked {
	pid_t targets[TARGETS];
	unsigned hanging, dying, replied, others;
};

/* Some of the targets hang the process that looks, some kill it. */
static bool look(pid_t pid, void *reply, const void *arg)
{
	const struct looked *l = arg;
	unsigned i;

	for (i = 0; i < TARGETS; i++)
		if (l->targets[i] == pid) {
			while (i < l->hanging)
				pause();
			if (i < l->hanging + l->dying)
				raise(SIGKILL);
			*(pid_t *)reply = pid;
			return true;
		}
	return false;
}

static bool count_reply(pid_t pid, const void *reply, void *result)
{
	struct looked *l = result;

	assert_int_equal(pid, *(const pid_t *)reply);
	l->replied++;
	return true;
}

static bool find_one(pid_t pid, const void *reply, void *result)
{
	*(pid_t *)result = pid;
	return false;
}

static bool hang(pid_t pid, void *reply, const void *arg)
{
	for (;;)
		pause();
	return false;
}

/* Each of the late processes belongs to another user: all of them together have one time, however many there are. */
static void a_survey_of_many_users(void **state)
{
	struct survey s = {.look = hang, .take = count_reply, .size = sizeof(pid_t)};
	struct survey_late late;
	double begun = seconds(), took;
	pid_t children[160];
	unsigned i;
	int rc;

	if (geteuid() != 0) {
		print_message("only root can be many users: not tested\n");
		return;
	}
	for (i = 0; i < ARRAY_LEN(children); i++) {
		children[i] = fork();
		if (children[i] == 0) {
			if (setuid(30000 + i) == 0)
				pause();
			_exit(0);
		}
	}
	rc = survey_all(&s, &late, &err);
	took = seconds() - begun;
	for (i = 0; i < ARRAY_LEN(children); i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	assert_int_equal(rc, 0);
	assert_in_range(late.count, ARRAY_LEN(children), 20000);
	/* 40 s if each has its own time */
	assert_true(took < 30);
}

static void *wait_long(void *ends)
{
	char byte;

	return read(*(int *)ends, &byte, 1) == 0 ? NULL : ends;
}

/* A child made by clone becomes another user and returns. */
static void child_of_another_user(void)
{
	struct user unprivileged = {.uid = 65534, .gid = 65534};
	struct user_former former;
	int status;
	pid_t child = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);

	if (child == 0) {
		alarm(20);
		if (user_become(&unprivileged, &former, &err) || geteuid() != 65534 || getegid() != 65534 ||
		    getgroups(0, NULL) != 0)
			_exit(1);
		user_return(&former);
		_exit(geteuid() != 0 || getegid() != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	/* SIGALRM: it has waited for the thread */
	assert_int_equal(status, 0);
}

/*
 * As the command has a thread that watches it (cli/watch.c): each child is made while a thread begins, which it does not
 * have itself. None ends meanwhile, as the command's does not: one that ends can hold malloc's lock.
 */
static void another_user_in_a_child(void **state)
{
	unsigned i, k, rounds = counted(10, 300);
	pthread_t threads[32];
	int ends[2];

	if (geteuid() != 0) {
		print_message("only root can become another user: not tested\n");
		return;
	}
	for (i = 0; i < rounds; i++) {
		assert_int_equal(pipe(ends), 0);
		for (k = 0; k < ARRAY_LEN(threads); k++) {
			assert_int_equal(pthread_create(&threads[k], NULL, wait_long, ends), 0);
			child_of_another_user();
		}
		close(ends[1]);
		for (k = 0; k < ARRAY_LEN(threads); k++)
			pthread_join(threads[k], NULL);
		close(ends[0]);
	}
}

static void survey_with(unsigned hanging, unsigned dying)
{
	struct looked l = {.hanging = hanging, .dying = dying};
	struct survey s = {.look = look, .take = count_reply, .size = sizeof(pid_t), .arg = &l, .result = &l};
	struct survey_late late;
	double begun = seconds();
	char text[300];
	unsigned i;

	for (i = 0; i < TARGETS; i++) {
		l.targets[i] = fork();
		if (l.targets[i] == 0) {
			pause();
			_exit(0);
		}
	}
	assert_int_equal(survey_all(&s, &late, &err), 0);
	/* on a busy machine others can be late, too; they are all told of */
	assert_in_range(late.count, hanging + dying, 10000);
	assert_in_range(l.replied + late.count, TARGETS, 20000);
	survey_say(&late, text, sizeof(text));
	for (i = 0; i < hanging + dying && late.count <= SURVEY_LATE; i++) {
		char number[16];

		snprintf(number, sizeof(number), "%d", (int)l.targets[i]);
		assert_non_null(strstr(text, number));
	}
	assert_true(seconds() - begun < 120);
	for (i = 0; i < TARGETS; i++) {
		kill(l.targets[i], SIGKILL);
		waitpid(l.targets[i], NULL, 0);
	}
	/* no child of the survey lives on */
	while (waitpid(-1, NULL, __WALL | WNOHANG) >= 0 && seconds() - begun < 120)
		usleep(1000);
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
}

static void surveys(void **state)
{
	survey_with(0, 0);
	survey_with(1, 0);
	survey_with(0, 1);
	survey_with(10, 2);
}

/* What is looked for has been found: the others need not be looked at. */
static void a_survey_that_has_enough(void **state)
{
	struct looked l = {.targets = {getpid()}};
	pid_t found = 0;
	struct survey s = {.look = look, .take = find_one, .size = sizeof(pid_t), .arg = &l, .result = &found};
	struct survey_late late;
	unsigned tries = 0;

	/* on a busy machine it can be late itself */
	do
		assert_int_equal(survey_all(&s, &late, &err), 0);
	while (!found && ++tries < 20);
	assert_int_equal(found, getpid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_files, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(sparse_files, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(files_that_change, make_folder, remove_folder),
		cmocka_unit_test(lines),
		cmocka_unit_test(memory_maps),
		cmocka_unit_test(endless_memory_maps),
		cmocka_unit_test(mutated_contents),
		cmocka_unit_test_teardown(mutated_folders, remove_folder),
		cmocka_unit_test(surveys), cmocka_unit_test(a_survey_of_many_users),
		cmocka_unit_test(another_user_in_a_child),
		cmocka_unit_test(a_survey_that_has_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
