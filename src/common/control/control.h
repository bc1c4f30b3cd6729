/*
 * control.h - the door of the control room: framed messages between the
 * command and its agent, over a stream socket in the file system.
 *
 *      0        4      5                        (little endian)
 *      | length | type | payload: length bytes |
 *
 * The length is at most CONTROL_MAX. A message may carry one descriptor
 * (SCM_RIGHTS, at its first byte). Neither side trusts the other: lengths,
 * types and the number of descriptors are checked, everything has a deadline,
 * and descriptors that were not asked for are closed.
 *
 * All functions are for normal code, one thread a socket and direction. None
 * raises SIGPIPE. Errors are negative errno with a text; -ECONNRESET means that
 * the other side is gone, -ETIMEDOUT that it said nothing in time, -EPROTO that
 * it broke the rules.
 */
#ifndef JSTROBE_CONTROL_CONTROL_H
#define JSTROBE_CONTROL_CONTROL_H

#include <sys/types.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

#define CONTROL_PROTOCOL 1
#define CONTROL_MAX (64 * 1024)
#define CONTROL_TOKEN_LENGTH 32 /* hex digits */

enum control_type {
	CONTROL_NONE,
#define MESSAGE(name, way, meaning) CONTROL_##name,
#include "common/control/messages.def"
	CONTROL_TYPES
};

struct control_message {
	enum control_type type;
	uint32_t length;
	char *payload; /* LENGTH bytes and a NUL; NULL before the first message */
	int fd;        /* the descriptor that came along, or -1 */
	pid_t sender;  /* as the kernel says, on a socket with SO_PASSCRED; else 0; -1: several processes' pieces */
};

#define CONTROL_MESSAGE_INIT {.fd = -1}
#define CONTROL_HEADER 5

/* A message that comes in pieces, without a descriptor. */
struct control_parser {
	unsigned char header[CONTROL_HEADER];
	size_t got;                  /* bytes of header and payload so far */
	struct control_message m;    /* the last one that has come whole */
};

#define CONTROL_PARSER_INIT {.m = CONTROL_MESSAGE_INIT}

/*
 * Take bytes from BYTES[0..N), *USED of them. 1: P->m is a whole message, until the next call; 0: more bytes are
 * needed, all were used. -EPROTO: they break the rules, -ENOMEM; then the connection is of no more use.
 */
int control_parse(struct control_parser *p, const void *bytes, size_t n, size_t *used, struct error *err);
/* Free what P holds. */
void control_parser_free(struct control_parser *p);
/* Read a header and make room for its payload: of M the type, the length and the memory. 0, -EPROTO, -ENOMEM. */
int control_header(const unsigned char header[CONTROL_HEADER], struct control_message *m, struct error *err);

/*
 * Send one message with PAYLOAD[0..LENGTH) and, if FD >= 0, that descriptor (it stays the
 * caller's).
 */
int control_send(int sock, enum control_type type, const void *payload, size_t length, int fd,
		 int timeout_ms, struct error *err);
/* The same with a string. */
int control_send_text(int sock, enum control_type type, const char *text, int timeout_ms,
		      struct error *err);
/*
 * Receive one message into M, whose former contents are released. TIMEOUT_MS < 0 waits for ever
 * for its first byte; the rest must follow within 5 s.
 */
int control_receive(int sock, struct control_message *m, int timeout_ms, struct error *err);
/* Free the payload and close the descriptor; safe on an initial or released message. */
void control_release(struct control_message *m);

/*
 * A listening socket at PATH with mode 0600.
 * The caller unlinks the path.
 */
int control_listen(const char *path, struct error *err);
/*
 * The same for NAME in the open folder FOLDER, wherever that has gone meanwhile, and a connection to such a socket.
 * SHOWN: its path in errors. What others see as the socket's name is a path in /proc.
 */
int control_listen_in(int folder, const char *name, const char *shown, struct error *err);
int control_connect_in(int folder, const char *name, struct error *err);
/*
 * Names of such sockets: CONTROL_PREFIX and CONTROL_DIGITS hex digits. Remove those in FOLDER that belong to the
 * (effective) user, are older than AGE seconds, and have no listener: a command that is killed cannot remove its
 * own. The age leaves those alone that are just being made. How many were removed.
 */
#define CONTROL_PREFIX ".jstrobe-"
#define CONTROL_DIGITS 16
#define CONTROL_OLD 10
unsigned control_sweep(int folder, unsigned age);
/* Wait for one connection; its descriptor, or a negative errno. */
int control_accept(int listener, int timeout_ms, struct error *err);
/* Connect to the socket at PATH; its descriptor, or a negative errno. */
int control_connect(const char *path, struct error *err);
/*
 * Who is at the other end: the pid (0 if out of sight) and effective uid of the moment it
 * connected.
 */
int control_peer(int sock, pid_t *pid, uid_t *uid, struct error *err);

/* A new random token of CONTROL_TOKEN_LENGTH hex digits and a NUL. */
int control_token(char token[CONTROL_TOKEN_LENGTH + 1], struct error *err);
/* Compare two tokens in a time that does not depend on where they differ. */
bool control_token_equal(const char *a, const char *b);

/*
 * The value of KEY in lines "key=value", copied to OUT[SIZE]; false if there is none or it is too
 * long.
 */
bool control_value(const char *lines, const char *key, char *out, size_t size);
/* The same as a number; 0 if there is none. */
uint64_t control_number(const char *lines, const char *key);

#endif
