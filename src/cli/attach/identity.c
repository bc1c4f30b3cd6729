/*
 * How a program in a process is known again.
 *
 * An exec gives a process a new memory, and the kernel draws at random where in it the program, its heap and its stack
 * lie. What the next exec will draw is not known before. Where addresses are not drawn at random
 * (randomize_va_space=0), what an exec can win shows in the users, or in who may look into the memory: the kernel
 * closes that of any program that runs with rights of its own. All of it is changed at once for who opens a perf event
 * (exec_update_lock), and an exec cannot be taken back: what holds behind something has held all through it.
 */
#include "cli/attach/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/attach/process.h"
#include "common/base/base.h"

static bool read_users(const char *status, const char *key, unsigned numbers[4])
{
	const char *line = strstr(status, key);

	return line && sscanf(line + strlen(key), "%u %u %u %u", &numbers[0], &numbers[1], &numbers[2],
			      &numbers[3]) == 4;
}

#define TWO " %*s %*s"
#define TEN TWO TWO TWO TWO TWO

/* Fields 26, 27, 28 and 47 of proc(5)'s stat; -EACCES: they are not shown to us. */
static int read_memory(int proc, uint64_t memory[4])
{
	char text[2048];
	const char *p;
	unsigned long long n[4];
	ssize_t length = process_read_at(proc, "stat", text, sizeof(text));
	size_t i;

	/* the program's name is in brackets and may hold any */
	p = length > 0 ? strrchr(text, ')') : NULL;
	if (!p)
		return length < 0 ? (int)length : -ESRCH;
	if (sscanf(p + 1, " %*c" TEN TEN TWO " %llu %llu %llu" TEN TWO TWO TWO TWO " %llu", &n[0], &n[1], &n[2],
		   &n[3]) != 4)
		return -ESRCH;
	for (i = 0; i < ARRAY_LEN(n); i++)
		memory[i] = n[i];
	return n[0] > 1 && n[2] ? 0 : -EACCES;
}

static int look(struct identity *id)
{
	char status[4096];
	struct stat st;
	ssize_t n = process_read_at(id->proc, "status", status, sizeof(status));

	if (n <= 0 || !read_users(status, "\nUid:\t", id->uids) || !read_users(status, "\nGid:\t", id->gids))
		return n < 0 ? (int)n : -ESRCH;
	if (fstatat(id->proc, "maps", &st, 0))
		return -errno;
	id->keeper = st.st_uid;
	return read_memory(id->proc, id->memory);
}

int identity_take(pid_t pid, struct identity *id)
{
	char path[32];
	int rc;

	memset(id, 0, sizeof(*id));
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	id->pid = pid;
	id->proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (id->proc < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	rc = look(id);
	if (rc)
		identity_close(id);
	return rc;
}

bool identity_holds(const struct identity *id)
{
	struct identity now = {.proc = id->proc};

	return id->proc >= 0 && look(&now) == 0 && memcmp(now.uids, id->uids, sizeof(now.uids)) == 0 &&
	       memcmp(now.gids, id->gids, sizeof(now.gids)) == 0 && now.keeper == id->keeper &&
	       memcmp(now.memory, id->memory, sizeof(now.memory)) == 0;
}

void identity_close(struct identity *id)
{
	if (id->proc >= 0)
		close(id->proc);
	id->proc = -1;
}
