/*
 * How a program in a process is known again.
 *
 * An exec gives a process a new memory, and with it a new auxiliary vector: AT_RANDOM, AT_BASE, AT_SYSINFO_EHDR and
 * AT_PHDR are addresses that are drawn anew. A process may write into its own copy, but what the next exec will draw it
 * does not know; where addresses are not drawn at random (randomize_va_space=0), what an exec can win shows in the
 * users, or in who may look into the memory: the kernel closes that of any program that runs with rights of its own.
 * All of it is changed at once for who opens a perf event (exec_update_lock), and an exec cannot be taken back: what
 * holds behind something has held all through it.
 */
#include "cli/attach/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/attach/process.h"

static bool read_users(const char *status, const char *key, unsigned numbers[4])
{
	const char *line = strstr(status, key);

	return line && sscanf(line + strlen(key), "%u %u %u %u", &numbers[0], &numbers[1], &numbers[2],
			      &numbers[3]) == 4;
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
	n = process_read_at(id->proc, "auxv", id->vector, sizeof(id->vector));
	if (n <= 0)
		return n < 0 ? (int)n : -ESRCH;
	id->length = (size_t)n;
	return 0;
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
	       now.length == id->length && memcmp(now.vector, id->vector, now.length) == 0;
}

void identity_close(struct identity *id)
{
	if (id->proc >= 0)
		close(id->proc);
	id->proc = -1;
}
