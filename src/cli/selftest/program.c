/*
 * The program of known truth in a JVM of its own. Its classes come from a jar in a private folder, which is gone again
 * as soon as the program has loaded them: whatever becomes of this command then, it leaves no file.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/selftest/selftest.h"
#include "common/os/os.h"
#include "selftest_jar.h"

#define START_MS 60000
#define TAIL_MS 30000 /* of a scenario: its threads end when a step of theirs does */

/* ---- which JVM ---- */

static bool can_run(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* PLACE is a java command, or a folder that has one in bin/. */
static bool take_java(const char *place, size_t length, char java[PATH_MAX])
{
	static const char *const ends[] = {"", "/bin/java", "/java"};
	size_t i;

	for (i = 0; length && i < ARRAY_LEN(ends); i++)
		if (snprintf(java, PATH_MAX, "%.*s%s", (int)length, place, ends[i]) < PATH_MAX && can_run(java))
			return true;
	return false;
}

static int find_java(const char *given, char java[PATH_MAX], struct error *err)
{
	const char *home = getenv("JAVA_HOME"), *path = getenv("PATH");
	size_t n;

	if (given[0])
		return take_java(given, strlen(given), java) ? 0 :
			error_set(err, ENOENT, "--java %s: neither a java command nor the folder of a JDK", given);
	if (home && home[0])
		return take_java(home, strlen(home), java) ? 0 :
			error_set(err, ENOENT, "JAVA_HOME is %s, where no bin/java is; set it right, or use --java",
				  home);
	for (; path && *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if (snprintf(java, PATH_MAX, "%.*s/java", (int)n, path) < PATH_MAX && n && can_run(java))
			return 0;
	}
	return error_set(err, ENOENT, "selftest needs a JVM: no java in PATH, no JAVA_HOME; use --java PATH");
}

/* ---- its classes ---- */

struct folder {
	char path[PATH_MAX], jar[PATH_MAX + 16];
};

static int make_folder(struct folder *f, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	struct buffer jar;
	int rc;

	tmp = tmp && tmp[0] ? tmp : "/tmp";
	if (snprintf(f->path, sizeof(f->path), "%s/jstrobe-selftest-XXXXXX", tmp) >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "TMPDIR is too long");
	if (!mkdtemp(f->path))
		return error_set(err, errno, "%s cannot be made: %s; set TMPDIR to a folder that can be written to",
				 f->path, error_text(errno));
	snprintf(f->jar, sizeof(f->jar), "%s/selftest.jar", f->path);
	buffer_init(&jar, open(f->jar, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	if (jar.fd < 0)
		jar.failed = errno;
	buffer_append(&jar, selftest_jar, sizeof(selftest_jar));
	rc = buffer_flush(&jar);
	buffer_free(&jar);
	if (jar.fd >= 0)
		close(jar.fd);
	if (rc == 0)
		return 0;
	error_set(err, -rc, "%s cannot be written: %s", f->jar, error_text(-rc));
	unlink(f->jar);
	rmdir(f->path);
	return -err->code;
}

static void remove_folder(const struct folder *f)
{
	unlink(f->jar);
	rmdir(f->path);
}

/* ---- its process ---- */

static void become(const char *java, const char *jar, int in, int out, int err)
{
	const char *words[] = {java, "-Xmx256m", "-cp", jar, "selftest.Main", NULL};

	signals_restore();
	signal(SIGPIPE, SIG_DFL);
	/* a group of its own: Ctrl-C is for this command, which ends it in order */
	setpgid(0, 0);
	if (dup3(in, 0, 0) < 0 || dup3(out, 1, 0) < 0 || dup3(err, 2, 0) < 0)
		_exit(126);
	execv(java, (char *const *)(uintptr_t)words);
	_exit(127);
}

static int start(struct program *g, const char *jar, struct error *err)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC))
		return error_set(err, errno, "pipe: %s", error_text(errno));
	if (pipe2(out, O_CLOEXEC)) {
		error_set(err, errno, "pipe: %s", error_text(errno));
		goto close_in;
	}
	g->err = memfd_create("stderr", MFD_CLOEXEC);
	g->pid = fork();
	if (g->pid == 0)
		become(g->java, jar, in[0], out[1], g->err);
	if (g->pid < 0) {
		g->pid = 0;
		error_set(err, errno, "fork: %s", error_text(errno));
		close(out[0]);
		close(out[1]);
		goto close_in;
	}
	close(in[0]);
	close(out[1]);
	g->in = in[1];
	g->out = out[0];
	return 0;
close_in:
	close(in[0]);
	close(in[1]);
	return -err->code;
}

/* What a JVM leaves in /tmp when it cannot end by itself: its socket, and its data in the folder of its user. */
static void remove_traces(pid_t pid)
{
	static const char folder[] = "hsperfdata_";
	DIR *tmp = opendir("/tmp");
	struct dirent *e;
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "/tmp/.java_pid%d", (int)pid);
	unlink(path);
	while (tmp && (e = readdir(tmp))) {
		if (strncmp(e->d_name, folder, sizeof(folder) - 1) != 0)
			continue;
		snprintf(path, sizeof(path), "/tmp/%s/%d", e->d_name, (int)pid);
		if (lstat(path, &st) == 0 && st.st_uid == geteuid())
			unlink(path);
	}
	if (tmp)
		closedir(tmp);
}

void program_end(struct program *g)
{
	if (g->in >= 0)
		close(g->in);
	if (g->pid) {
		patience_end(g->pid, 400);
		remove_traces(g->pid);
	}
	if (g->out >= 0)
		close(g->out);
	if (g->err >= 0)
		close(g->err);
	buffer_free(&g->lines);
	g->in = g->out = g->err = -1;
	g->pid = 0;
}

/* ---- the conversation ---- */

/* It has ended, which it never does by itself: what it said. */
static int say_end(struct program *g, struct error *err)
{
	char said[300];
	ssize_t n = pread(g->err, said, sizeof(said) - 1, 0);

	said[MAX(n, 0)] = '\0';
	said[strcspn(said, "\n")] = '\0';
	return error_set(err, ECHILD, "%s ended by itself%s%s", g->java, said[0] ? ": " : "", said);
}

/* The next line, ended by NUL, until the next call. */
static int next_line(struct program *g, char line[256], uint64_t deadline, struct patience *p, struct error *err)
{
	for (;;) {
		char *end = g->lines.length ? memchr(g->lines.data, '\n', g->lines.length) : NULL, block[4096];
		ssize_t n;
		int rc;

		if (end) {
			size_t length = (size_t)(end - g->lines.data);

			snprintf(line, 256, "%.*s", (int)MIN(length, 255), g->lines.data);
			g->lines.length -= length + 1;
			memmove(g->lines.data, end + 1, g->lines.length);
			return 0;
		}
		rc = patience_wait(p, g->out, deadline);
		if (rc == -ECHILD)
			continue;
		if (rc)
			return error_set(err, -rc, rc == -EINTR ? "interrupted" : "%s does not answer", g->java);
		n = read(g->out, block, sizeof(block));
		if (n <= 0)
			return say_end(g, err);
		buffer_append(&g->lines, block, (size_t)n);
	}
}

/* "1.8.0_402" is 8, "17.0.15" 17. */
static int feature_of(const char *version)
{
	return strncmp(version, "1.", 2) == 0 ? atoi(version + 2) : atoi(version);
}

static int greet(struct program *g, struct patience *p, struct error *err)
{
	uint64_t deadline = os_monotonic() + START_MS * NS_PER_MS;
	char line[256];
	int rc;

	do
		rc = next_line(g, line, deadline, p, err);
	while (rc == 0 && strncmp(line, "READY ", 6) != 0);
	if (rc)
		return rc;
	if (sscanf(line, "READY %47[^\t]\t%79[^\t]\t%u", g->jdk, g->vm, &g->cpus) != 3)
		return error_set(err, EPROTO, "%s says '%s'", g->java, line);
	g->feature = feature_of(g->jdk);
	return 0;
}

int program_begin(struct program *g, const char *given, struct patience *p, struct error *err)
{
	struct folder folder;
	int rc = find_java(given, g->java, err);

	if (rc == 0)
		rc = make_folder(&folder, err);
	if (rc)
		return rc;
	rc = start(g, folder.jar, err);
	if (rc == 0)
		rc = greet(g, p, err);
	remove_folder(&folder);
	return rc;
}

static void take_truth(struct program *g, const char *line)
{
	struct truth *t = &g->truths[g->truth_count];
	unsigned long long value, parts, delay;

	if (g->truth_count == ARRAY_LEN(g->truths) ||
	    sscanf(line, "TRUTH %31s %llu %llu %llu", t->name, &value, &parts, &delay) != 4)
		return;
	t->value = value;
	t->parts = parts;
	t->delay = delay;
	g->truth_count++;
}

int program_run(struct program *g, const char *scenario, unsigned ms, struct patience *p, struct error *err)
{
	uint64_t deadline = os_monotonic() + (ms + TAIL_MS) * NS_PER_MS;
	char line[256];
	unsigned seed = os_monotonic() >> 10 & 0xffffff; /* of its random lengths */
	int n = snprintf(line, sizeof(line), "run %s %u %u\n", scenario, ms, seed), rc;

	g->truth_count = 0;
	if (write(g->in, line, (size_t)n) != n)
		return say_end(g, err);
	do {
		rc = next_line(g, line, deadline, p, err);
		if (rc)
			return rc;
		take_truth(g, line);
	} while (strcmp(line, "DONE") != 0);
	return 0;
}

const struct truth *program_truth(const struct program *g, const char *name)
{
	unsigned i;

	for (i = 0; i < g->truth_count; i++)
		if (strcmp(g->truths[i].name, name) == 0)
			return &g->truths[i];
	return NULL;
}
