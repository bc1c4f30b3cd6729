/*
 * perf_transfer.h - perf descriptors from a command that may have what this process may not (--fdtransfer).
 */
#ifndef JSTROBE_SOURCES_CPU_PERF_TRANSFER_H
#define JSTROBE_SOURCES_CPU_PERF_TRANSFER_H

#include "common/base/error.h"
#include "common/os/os.h"

/*
 * Perf descriptors that a command with more rights opens for us (perf_transfer.c). OFFER: SOCK, where they can be
 * asked for (PERF in common/control/messages.def), is taken over for the next session that wants it, -1 = none. BEGIN
 * before engine_start; END when frames have their names, those of the kernel come that way too. One thread at a time.
 */
void transfer_offer(int sock);
int transfer_begin(bool wanted, struct error *err);
void transfer_end(void);
/*
 * Perf descriptors from the command (perf_transfer.c): whether there are such; one for TID, or a negative errno; the
 * running thread TID needs one, but must not wait for it: it will be armed by a thread of ours.
 */
bool transfer_serves(void);
int transfer_open(pid_t tid, const struct os_perf *spec);
void transfer_wait(pid_t tid);

#endif
