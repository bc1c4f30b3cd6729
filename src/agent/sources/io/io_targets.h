/*
 * io_targets.h - what a descriptor leads to: a file's path, a peer's address, a pipe.
 *
 * A descriptor is closed and used again for something else at any time, also by calls that are not seen. So what is
 * known of it is held against what it leads to now, each time that a sample asks: device, inode and time of birth, by
 * one call of statx. Only where these are new the name is looked up: the link in /proc/self/fd, or the socket's
 * addresses. Where a file system gives out an inode number again it gives another time of birth, but for files of one
 * tick of its clock: one that is so young is looked up each time, and so is one without a time of birth.
 *
 * No more than IO_NAMES names are told apart; what comes then stands under its kind. Any thread in normal code, without
 * a lock: a thread that finds another at the same descriptor looks up the name for itself.
 */
#ifndef AGENT_SOURCES_IO_IO_TARGETS_H
#define AGENT_SOURCES_IO_IO_TARGETS_H

#include <sys/socket.h>

#include "common/base/base.h"
#include "common/words/enum_names.h"

#define IO_NAMES 16384u
#define IO_NAMES_FIRST (1u << 24) /* numbers of names are from it on: the collector has classes below */
#define IO_NAME 248               /* bytes of a name; of a longer one its end is kept */

struct io_target {
	uint32_t name;   /* number */
	uint8_t kind;    /* enum io_kind */
	bool serves;     /* who reads from it waits until something is wanted of the program */
	uint16_t port;   /* the peer's; 0: none */
};

/* Memory; nothing is known of any descriptor, and the ports that are listened on are. False: no memory. */
bool io_targets_open(void);
/* Which ports are listened on by now, besides. */
void io_targets_look(void);
/* Memory goes back; no thread is inside any other function. */
void io_targets_release(void);

/* What FD leads to. PEER: whom the call was about, where its address says so; NULL: the socket's own. errno changes. */
struct io_target io_target_of(int fd, const struct sockaddr *peer, socklen_t length);
/* The file at PATH, which could not be opened. */
struct io_target io_target_path(const char *path);
/* Connections have come through FD: those of its port are from clients. errno changes. */
void io_targets_listens(int fd);
/* NULL: none. */
const char *io_target_name(uint32_t number);

#endif
