/*
 * transfer.h - perf events opened by the command for a process that may not (--fdtransfer).
 */
#ifndef JSTROBE_CLI_TRANSFER_H
#define JSTROBE_CLI_TRANSFER_H

#include "base/error.h"

/*
 * Leave a process behind that opens perf events for the threads of the process at the other end of SOCK, and return
 * the socket where it can be asked (the caller's), or a negative errno. It ends when the other end of that is closed.
 */
int transfer_serve(int sock, struct error *err);

#endif
