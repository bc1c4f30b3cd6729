/*
 * transfer.h - perf events opened by the command for a process that may not (--fdtransfer).
 */
#ifndef JSTROBE_CLI_TRANSFER_H
#define JSTROBE_CLI_TRANSFER_H

#include "cli/attach/identity.h"
#include "common/base/error.h"
#include "common/options/options.h"
#include "common/os/os.h"

/* What a session was asked to sample, as far as it takes perf events: more is not opened for it (transfer_grant.c). */
#define GRANTS_MAX 16
struct grant {
	struct {
		uint32_t type;
		uint64_t config;
	} events[GRANTS_MAX];
	size_t count;
	uint32_t breakpoints; /* HW_BREAKPOINT_… as bits; 0 = none */
	bool kernel;          /* what happens in the kernel, too */
};

void grant_read(const struct options *o, struct grant *g);
bool grant_allows(const struct grant *g, const struct os_perf *s);

/*
 * Leave a process behind that opens perf events that O asks for, for the threads of the process at the other end of
 * SOCK, and return the socket where it can be asked (the caller's), or a negative errno. TARGET is that process as it
 * was when it was looked at (proc -1: nothing is known of it). It ends when the other end of the socket is closed, when
 * the target ends, runs another program or has another user, and when another process than the target asks.
 */
int transfer_serve(int sock, const struct identity *target, const struct options *o, struct error *err);

#endif
