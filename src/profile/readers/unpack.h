/*
 * unpack.h - profiles that an agent of this build has packed (profile/model/packed.h).
 */
#ifndef JSTROBE_READERS_UNPACK_H
#define JSTROBE_READERS_UNPACK_H

#include "common/base/error.h"
#include "profile/model/profile.h"

#define UNPACK_BYTES (1ull << 30) /* of a result: an agent is bound by its memlimit */
#define UNPACK_MOST 16 /* profiles of a session */

struct unpacked {
	char *bytes; /* what all pointers of the profiles lead to */
	struct profile *profiles[UNPACK_MOST];
	struct profile_moment *moments[UNPACK_MOST]; /* of each, or NULL */
	uint32_t count;
};

/*
 * The profiles in file FD, SIZE bytes long, which may come from a hostile program: whatever it holds, each pointer and
 * index of the result can be followed. 0; -EPROTO, -ENOMEM or another negative errno with the reason. Free in any case.
 */
int unpack(struct unpacked *u, int fd, uint64_t size, struct error *err);
void unpack_free(struct unpacked *u);

#endif
