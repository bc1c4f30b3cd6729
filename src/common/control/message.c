/*
 * Sending and receiving one framed message with a deadline.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/control/control.h"
#include "common/os/os.h"

#define HEADER CONTROL_HEADER
#define REST_MS 5000
#define MAX_DESCRIPTORS 8 /* room for descriptors that a hostile peer sends, to close them */

static int64_t now_ms(void)
{
	return (int64_t)(os_monotonic() / NS_PER_MS);
}

static int64_t deadline_in(int timeout_ms)
{
	return timeout_ms < 0 ? INT64_MAX : now_ms() + timeout_ms;
}

static int gone(struct error *err)
{
	return error_set(err, ECONNRESET, "the other side closed the connection");
}

/* Wait until SOCK is ready for EVENTS. */
static int wait_for(int sock, short events, int64_t deadline, struct error *err)
{
	struct pollfd p = {.fd = sock, .events = events};

	for (;;) {
		int64_t left = deadline == INT64_MAX ? -1 : MAX(deadline - now_ms(), (int64_t)0);
		int n = poll(&p, 1, left > INT32_MAX ? INT32_MAX : (int)left);

		if (n > 0)
			return 0;
		if (n == 0 && left >= 0 && left <= INT32_MAX)
			return error_set(err, ETIMEDOUT, "no answer on the control socket in time");
		if (n < 0 && errno != EINTR)
			return error_set(err, errno, "control socket: poll: %s", error_text(errno));
	}
}

static int failed(const char *what, int code, struct error *err)
{
	if (code == EPIPE || code == ECONNRESET)
		return gone(err);
	return error_set(err, code, "control socket: %s: %s", what, error_text(code));
}

/* The descriptor FD as ancillary data of M, in CONTROL. */
static void attach_descriptor(struct msghdr *m, char *control, size_t size, int fd)
{
	struct cmsghdr *c;

	memset(control, 0, size);
	m->msg_control = control;
	m->msg_controllen = CMSG_SPACE(sizeof(int));
	c = CMSG_FIRSTHDR(m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
}

int control_send(int sock, enum control_type type, const void *payload, size_t length, int fd,
		 int timeout_ms, struct error *err)
{
	unsigned char header[HEADER] = {length & 0xff, length >> 8 & 0xff, length >> 16 & 0xff,
					length >> 24 & 0xff, (unsigned char)type};
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	int64_t deadline = deadline_in(timeout_ms);
	size_t sent = 0;

	if (length > CONTROL_MAX)
		return error_set(err, EMSGSIZE, "message of %zu bytes; at most %d are allowed",
				 length,
				 CONTROL_MAX);
	while (sent < HEADER + length) {
		size_t in_payload = sent > HEADER ? sent - HEADER : 0;
		struct iovec parts[2] = {
			{header + MIN(sent, (size_t)HEADER), HEADER - MIN(sent, (size_t)HEADER)},
			{(char *)(uintptr_t)payload + in_payload, length - in_payload},
		};
		struct msghdr m = {.msg_iov = parts, .msg_iovlen = length ? 2 : 1};
		ssize_t n;

		if (fd >= 0 && sent == 0)
			attach_descriptor(&m, control, sizeof(control), fd);
		n = sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0)
			sent += (size_t)n;
		else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (wait_for(sock, POLLOUT, deadline, err))
				return -err->code;
		} else if (errno != EINTR)
			return failed("send", errno, err);
	}
	return 0;
}

int control_send_text(int sock, enum control_type type, const char *text, int timeout_ms,
		      struct error *err)
{
	return control_send(sock, type, text, strlen(text), -1, timeout_ms, err);
}

static void take_sender(const struct cmsghdr *c, pid_t *sender)
{
	struct ucred who;

	memcpy(&who, CMSG_DATA(c), sizeof(who));
	*sender = *sender == 0 || *sender == who.pid ? who.pid : -1;
}

/* Keep the first descriptor that came with M and close all others; and who sent it, if the socket asks. */
static void take_along(struct msghdr *m, struct control_message *into)
{
	int *kept = &into->fd;
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t i, n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			take_sender(c, &into->sender);
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (*kept < 0)
				*kept = fd;
			else
				close(fd);
		}
	}
}

/* Fill BYTES[0..LENGTH); what comes along goes to M. */
static int receive_bytes(int sock, void *bytes, size_t length, struct control_message *into, int64_t deadline,
			 struct error *err)
{
	char control[CMSG_SPACE(sizeof(int) * MAX_DESCRIPTORS) + CMSG_SPACE(sizeof(struct ucred))]
		__attribute__((aligned(8)));
	size_t got = 0;

	while (got < length) {
		struct iovec part = {(char *)bytes + got, length - got};
		struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
				   .msg_controllen = sizeof(control)};
		ssize_t n;

		if (wait_for(sock, POLLIN, deadline, err))
			return -err->code;
		n = recvmsg(sock, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n == 0)
			return gone(err);
		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
			continue;
		if (n < 0)
			return failed("receive", errno, err);
		take_along(&m, into);
		got += (size_t)n;
	}
	return 0;
}

int control_receive(int sock, struct control_message *m, int timeout_ms, struct error *err)
{
	unsigned char header[HEADER];
	int64_t deadline;
	int rc;

	control_release(m);
	rc = receive_bytes(sock, header, 1, m, deadline_in(timeout_ms), err);
	if (rc)
		goto out;
	deadline = deadline_in(REST_MS);
	rc = receive_bytes(sock, header + 1, HEADER - 1, m, deadline, err);
	if (rc)
		goto out;
	rc = control_header(header, m, err);
	if (rc == 0)
		rc = receive_bytes(sock, m->payload, m->length, m, deadline, err);
out:
	if (rc)
		control_release(m);
	return rc;
}

void control_release(struct control_message *m)
{
	free(m->payload);
	if (m->fd >= 0)
		close(m->fd);
	m->payload = NULL;
	m->fd = -1;
	m->sender = 0;
	m->length = 0;
	m->type = CONTROL_NONE;
}
