/*
 * signs.h - whether a process that owes an answer is at it, by what the kernel says of it.
 */
#ifndef JSTROBE_CLI_SIGNS_H
#define JSTROBE_CLI_SIGNS_H

#include <sys/types.h>

#include "common/base/base.h"

struct signs {
	uint64_t cpu, size; /* as they were */
};

/*
 * Whether process PID has used CPU time since the last call, or file FD (-1: none) has another size, or a thread of the
 * agent is about to run or waits for a disk. S starts zeroed.
 */
bool signs_of_work(struct signs *s, pid_t pid, int fd);

#endif
