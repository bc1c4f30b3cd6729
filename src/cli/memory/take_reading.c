/*
 * take_reading.c - one reading of a process: smaps first, at one moment, then all that says whose its mappings are.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/foreign.h"
#include "cli/memory/resident.h"
#include "common/os/os.h"

/* "always [madvise] never" */
static void read_thp(struct memory_reading *r)
{
	int fd = foreign_open(AT_FDCWD, "/sys/kernel/mm/transparent_hugepage/enabled");
	char text[128];
	const char *chosen;

	if (fd < 0)
		return;
	chosen = foreign_read(fd, text, sizeof(text)) > 0 ? strchr(text, '[') : NULL;
	if (chosen)
		snprintf(r->thp, sizeof(r->thp), "%.*s", (int)strcspn(chosen + 1, "]"), chosen + 1);
	close(fd);
}

static int read_smaps(struct memory_reading *r, struct error *err)
{
	char path[64];
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)r->pid);
	fd = foreign_open(AT_FDCWD, path);
	rc = fd < 0 ? fd : mappings_read(fd, &r->maps);
	if (rc == -EACCES || rc == -EPERM)
		return error_set(err, EACCES, "the memory map of process %d (%s) may not be read: it belongs to "
				 "another user, or has given up being looked at; run jstrobe as its user or as root",
				 (int)r->pid, path);
	if (rc == 0 && !r->maps.count && kill(r->pid, 0) == 0)
		return error_set(err, ESRCH, "process %d has no memory of its own: it is a thread of the kernel, or "
				 "has ended and is waited for by no one (a zombie)", (int)r->pid);
	if (rc == -ENOENT || rc == -ESRCH || (rc == 0 && !r->maps.count))
		return error_set(err, ESRCH, "process %d has ended", (int)r->pid);
	if (rc)
		return error_set(err, -rc, "the memory map of process %d (%s) cannot be read: %s", (int)r->pid, path,
				 error_text(-rc));
	return 0;
}

static void find_vm(struct memory_reading *r)
{
	char libjvm[PATH_MAX];

	if (process_vm(r->pid, &r->vm, libjvm))
		r->vm = PROCESS_NO_VM;
	process_java(r->pid, &r->status, &r->java);
	if (r->vm == PROCESS_HOTSPOT)
		process_jdk(r->pid, libjvm, r->java.version, r->jdk, sizeof(r->jdk));
}

static int attribute(struct memory_reading *r, struct error *err)
{
	struct ranges claims = {0};
	struct memory_classes classes = {0};
	struct vm_tables *t;
	struct peek peek;
	int rc = peek_open(&peek, r->pid, &r->maps, err);

	if (rc)
		return rc;
	t = r->vm == PROCESS_HOTSPOT ? vm_tables_open(&peek) : NULL;
	r->tables = t != NULL;
	memory_claim_own(&peek, &claims);
	if (t)
		memory_claim_vm(&peek, t, &claims, r);
	memory_claim_stacks(&peek, t, &claims, r);
	if (r->vm == PROCESS_HOTSPOT && !t)
		memory_claim_by_form(&r->maps, &r->counters, &claims);
	memory_claim_arenas(&peek, &claims, &r->malloc);
	if (t)
		memory_find_classes(&peek, t, &classes);
	memory_claim_large(&peek, &classes, &claims, &r->malloc);
	if (t) {
		memory_claim_metaspace(&peek, &classes, &claims);
		memory_claim_reached(&peek, t, &claims);
	}
	ranges_settle(&claims);
	memory_account(&peek, &claims, r);
	r->refused = peek.refused;
	if (claims.failed)
		rc = error_set(err, ENOMEM, "out of memory");
	free(claims.items);
	free(classes.items);
	vm_tables_close(t);
	peek_close(&peek);
	return rc;
}

int memory_read(pid_t pid, struct memory_reading *r, struct error *err)
{
	int rc;

	memset(r, 0, sizeof(*r));
	r->pid = pid;
	r->time = os_realtime();
	rc = process_status(pid, &r->status);
	if (rc || r->status.tgid == 0 || r->status.state == 'Z' || r->status.state == 'X')
		return error_set(err, ESRCH, "there is no process %d; 'jstrobe ps' lists the JVMs", (int)pid);
	find_vm(r);
	memory_read_counters(pid, &r->status, &r->counters);
	rc = read_smaps(r, err);
	if (rc == 0)
		rc = attribute(r, err);
	memory_read_cgroup(pid, &r->cgroup);
	read_thp(r);
	return rc;
}

void memory_reading_free(struct memory_reading *r)
{
	mappings_free(&r->maps);
	free(r->parts.items);
	r->parts.items = NULL;
	r->parts.count = r->parts.capacity = 0;
}
