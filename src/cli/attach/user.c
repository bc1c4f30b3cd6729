/*
 * Acting as the target's user: what a JVM is sent must come from its own user, and what is done in its file system
 * must be what its user could do there itself.
 *
 * A container's root is often the host's number 0, without most of its capabilities; in a user namespace, a number that
 * is unknown here. The first must not get root's capabilities, so those that the process lacks are put off as well.
 *
 * All of it is the calling thread's alone, by plain system calls: the libc changes all threads at once, and in a child
 * made by clone (survey.c) it waits for ever for those that only the parent has.
 */
#include <errno.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/attach/process.h"
#include "cli/attach/root.h"

/* ---- whose ---------------------------------------------------------------------- */

/* Whether capabilities of PID are worth here what they say: it is in our user namespace. */
static bool shares_users(pid_t pid)
{
	char path[64];
	struct stat its, ours;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return stat(path, &its) == 0 && stat("/proc/self/ns/user", &ours) == 0 && its.st_ino == ours.st_ino &&
	       its.st_dev == ours.st_dev;
}

int user_of(pid_t pid, struct user *user)
{
	struct process_status s;
	int rc = process_status(pid, &s);

	memset(user, 0, sizeof(*user));
	if (rc)
		return rc;
	user->uid = s.uid;
	user->gid = s.gid;
	user->group_count = s.group_count;
	memcpy(user->groups, s.groups, sizeof(user->groups));
	user->capabilities = shares_users(pid) ? s.capabilities : 0;
	return 0;
}

/* ---- capabilities --------------------------------------------------------------- */

/* Read our capabilities, or put what is in EFFECTIVE in force. */
static int read_capabilities(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, data) ? -errno : 0;
}

static uint64_t effective(const struct __user_cap_data_struct data[2])
{
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

static int write_effective(uint64_t capabilities)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	int rc = read_capabilities(data);

	if (rc)
		return rc;
	data[0].effective = (uint32_t)capabilities & data[0].permitted;
	data[1].effective = (uint32_t)(capabilities >> 32) & data[1].permitted;
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/* ---- this thread's numbers -------------------------------------------------------- */

/* Where numbers of 16 bits came first, these have names of their own. */
#ifdef SYS_setgroups32
#define SET_GROUPS SYS_setgroups32
#define SET_USER SYS_setresuid32
#define SET_GROUP SYS_setresgid32
#else
#define SET_GROUPS SYS_setgroups
#define SET_USER SYS_setresuid
#define SET_GROUP SYS_setresgid
#endif

/* As setgroups(2), seteuid(2) and setegid(2): 0, or -1 and errno. */
static int set_groups(size_t count, const gid_t *groups)
{
	return (int)syscall(SET_GROUPS, (long)count, groups);
}

static int set_user(uid_t uid)
{
	return (int)syscall(SET_USER, -1L, (long)uid, -1L);
}

static int set_group(gid_t gid)
{
	return (int)syscall(SET_GROUP, -1L, (long)gid, -1L);
}

/* ---- there and back -------------------------------------------------------------- */

static int lacks(const char *capability, uid_t uid, int code, struct error *err)
{
	return error_set(err, code, "cannot act as uid %u, the user of the process: %s; give jstrobe %s, or run it as "
			 "that user", (unsigned)uid, error_text(code), capability);
}

/* A user namespace that was made without a map of groups. */
static bool groups_are_fixed(void)
{
	char word[16];

	return process_read(getpid(), "setgroups", word, sizeof(word)) > 0 && strcmp(word, "deny\n") == 0;
}

static bool is_already(const struct user *u, const struct user_former *f)
{
	return u->uid == f->uid && u->gid == f->gid && f->group_count == (int)u->group_count &&
	       memcmp(u->groups, f->groups, u->group_count * sizeof(gid_t)) == 0;
}

static int change_user(const struct user *u, struct user_former *f, struct error *err)
{
	int rc;

	f->group_count = getgroups(0, NULL);
	f->groups = calloc((size_t)MAX(f->group_count, 0) + 1, sizeof(*f->groups));
	if (!f->groups)
		return error_set(err, ENOMEM, "out of memory");
	f->group_count = getgroups(f->group_count, f->groups);
	if (is_already(u, f)) {
		free(f->groups);
		f->groups = NULL;
		return 0;
	}
	/* root's groups would open doors that are closed to the user */
	if (set_groups(u->group_count, u->groups)) {
		rc = errno;
		f->group_count = -1;
		if (u->uid != f->uid && !groups_are_fixed())
			return lacks("CAP_SETGID", u->uid, rc, err);
	}
	if (set_group(u->gid) && u->uid != f->uid)
		return lacks("CAP_SETGID", u->uid, errno, err);
	return set_user(u->uid) ? lacks("CAP_SETUID", u->uid, errno, err) : 0;
}

int user_become(const struct user *u, struct user_former *f, struct error *err)
{
	struct __user_cap_data_struct data[2];
	int rc;

	*f = (struct user_former){.uid = geteuid(), .gid = getegid()};
	rc = read_capabilities(data);
	if (rc)
		return error_set(err, -rc, "our own capabilities cannot be read: %s", error_text(-rc));
	f->capabilities = effective(data);
	/* same user, other group: the JVM decides */
	rc = f->uid == 0 ? change_user(u, f, err) : 0;
	if (rc)
		return rc;
	read_capabilities(data);
	if (!(effective(data) & ~u->capabilities) && effective(data) == f->capabilities)
		return 0;
	f->limited = true;
	rc = write_effective(f->capabilities & u->capabilities & effective(data));
	return rc ? error_set(err, -rc, "cannot put off our capabilities: %s", error_text(-rc)) : 0;
}

void user_return(struct user_former *f)
{
	/* back to root first: only root may change groups */
	if (f->groups && set_user(f->uid))
		abort();
	/* becoming root has brought back all that is permitted, or nothing if it was root all the time */
	if (f->limited && write_effective(f->capabilities))
		abort();
	if (f->groups && (set_group(f->gid) || (f->group_count >= 0 && set_groups((size_t)f->group_count, f->groups))))
		abort();
	free(f->groups);
	f->groups = NULL;
	f->limited = false;
}

/* From the file: asking name services would need shared libraries, which a static program lacks. */
const char *user_name(uid_t uid, char name[64], const char *otherwise)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *user;

	snprintf(name, 64, "%s", otherwise);
	while (f && (user = fgetpwent(f)) != NULL)
		if (user->pw_uid == uid) {
			snprintf(name, 64, "%s", user->pw_name);
			break;
		}
	if (f)
		fclose(f);
	return name;
}
