/*
 * The socket itself: made by the command where the agent can see it, found by
 * the agent, and checked from both ends.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/control/control.h"

#define CONNECT_S 3 /* a command whose queue is full that long accepts no connection any more */

static int address(const char *path, struct sockaddr_un *a, struct error *err)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(a->sun_path))
		return error_set(err, ENAMETOOLONG, "control socket: the path %s is too long",
				 path);
	strcpy(a->sun_path, path);
	return 0;
}

/* At PATH, which is called SHOWN in errors. */
static int listen_at(const char *path, const char *shown, struct error *err)
{
	struct sockaddr_un a;
	int sock;

	if (address(path, &a, err))
		return -err->code;
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return error_set(err, errno, "control socket: %s", error_text(errno));
	/* no other user may connect at any moment: the file that bind makes gets the mode that the socket has */
	if (fchmod(sock, 0600) || bind(sock, (struct sockaddr *)&a, sizeof(a))) {
		error_set(err, errno, "control socket: cannot create %s: %s; the folder must be "
			  "writable", shown, error_text(errno));
		close(sock);
		return -err->code;
	}
	if (listen(sock, 4)) {
		error_set(err, errno, "control socket: cannot set up %s: %s", shown,
			  error_text(errno));
		unlink(path);
		close(sock);
		return -err->code;
	}
	return sock;
}

int control_listen(const char *path, struct error *err)
{
	return listen_at(path, path, err);
}

/* The kernel has no bindat: what an open folder leads to is the folder itself, whatever its name leads to by now. */
static int path_in(int folder, const char *name, char *path, size_t size, struct error *err)
{
	if (snprintf(path, size, "/proc/self/fd/%d/%s", folder, name) < (int)size)
		return 0;
	return error_set(err, ENAMETOOLONG, "control socket: the name %s is too long", name);
}

int control_listen_in(int folder, const char *name, const char *shown, struct error *err)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int rc = path_in(folder, name, path, sizeof(path), err);

	return rc ? rc : listen_at(path, shown, err);
}

int control_connect_in(int folder, const char *name, struct error *err)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int rc = path_in(folder, name, path, sizeof(path), err);

	return rc ? rc : control_connect(path, err);
}

int control_accept(int listener, int timeout_ms, struct error *err)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};
	int n, sock;

	do
		n = poll(&p, 1, timeout_ms);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return error_set(err, ETIMEDOUT, "the agent did not call back in time");
	do
		sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	while (sock < 0 && errno == EINTR);
	if (sock < 0)
		return error_set(err, errno, "control socket: accept: %s", error_text(errno));
	return sock;
}

int control_connect(const char *path, struct error *err)
{
	struct timeval limit = {.tv_sec = CONNECT_S}, none = {0};
	struct sockaddr_un a;
	int sock, rc;

	if (address(path, &a, err))
		return -err->code;
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return error_set(err, errno, "control socket: %s", error_text(errno));
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	do
		rc = connect(sock, (struct sockaddr *)&a, sizeof(a));
	while (rc && errno == EINTR);
	if (rc) {
		error_set(err, errno, "cannot reach the jstrobe command at %s: %s", path,
			  error_text(errno));
		close(sock);
		return -err->code;
	}
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
	return sock;
}

int control_peer(int sock, pid_t *pid, uid_t *uid, struct error *err)
{
	struct ucred cred;
	socklen_t size = sizeof(cred);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &size))
		return error_set(err, errno, "control socket: who is there? %s", error_text(errno));
	*pid = cred.pid;
	*uid = cred.uid;
	return 0;
}

int control_token(char token[CONTROL_TOKEN_LENGTH + 1], struct error *err)
{
	unsigned char bytes[CONTROL_TOKEN_LENGTH / 2];
	size_t i;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return error_set(err, EIO, "no random numbers from the kernel: %s",
				 error_text(errno));
	for (i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

bool control_token_equal(const char *a, const char *b)
{
	size_t i, n = strlen(a);
	unsigned char difference = 0;

	if (n != strlen(b) || n == 0)
		return false;
	for (i = 0; i < n; i++)
		difference |= (unsigned char)(a[i] ^ b[i]);
	return difference == 0;
}

bool control_value(const char *lines, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);

	while (lines && *lines) {
		const char *end = strchr(lines, '\n');
		size_t length = end ? (size_t)(end - lines) : strlen(lines);

		if (length > n && strncmp(lines, key, n) == 0 && lines[n] == '=') {
			if (length - n - 1 >= size)
				return false;
			memcpy(out, lines + n + 1, length - n - 1);
			out[length - n - 1] = '\0';
			return true;
		}
		lines = end ? end + 1 : NULL;
	}
	return false;
}

uint64_t control_number(const char *lines, const char *key)
{
	char text[32];

	return control_value(lines, key, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}
