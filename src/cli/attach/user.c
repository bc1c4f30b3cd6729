/*
 * Acting as the target's user: what a JVM is sent must come from its own user, and files in a file
 * system that was mounted inside a user namespace can be made by its users only.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/root.h"

int user_become(uid_t uid, gid_t gid, struct user_former *f, struct error *err)
{
	*f = (struct user_former){.uid = geteuid(), .gid = getegid()};
	/* same user, other group: the JVM decides */
	if (f->uid != 0 || (uid == 0 && gid == f->gid))
		return 0;
	f->group_count = getgroups(0, NULL);
	f->groups = calloc((size_t)MAX(f->group_count, 0) + 1, sizeof(*f->groups));
	if (!f->groups)
		return error_set(err, ENOMEM, "out of memory");
	f->group_count = getgroups(f->group_count, f->groups);
	/* root's groups would open doors that are closed to the user; a namespace may forbid it */
	if (f->group_count < 0 || setgroups(0, NULL))
		f->group_count = -1;
	if (setegid(gid) || seteuid(uid))
		return error_set(err, errno, "cannot act as uid %u, the user of the JVM: %s",
				 (unsigned)uid, strerror(errno));
	return 0;
}

void user_return(struct user_former *f)
{
	if (!f->groups)
		return;
	/* back to root first: only root may change groups */
	if (seteuid(f->uid) || setegid(f->gid) ||
	    (f->group_count >= 0 && setgroups((size_t)f->group_count, f->groups)))
		abort();
	free(f->groups);
	f->groups = NULL;
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
