/*
 * Any bytes on the control socket, in any portions, some with descriptors: messages within their
 * rules or an error, and no descriptor stays open.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/control/control.h"
#include "common/options/options.h"
#include "fuzz.h"

/* A portion of at most 64 KB with COUNT copies of FD. */
static void send_portion(int sock, const uint8_t *bytes, size_t n, int fd, unsigned count)
{
	char control[CMSG_SPACE(sizeof(int) * 16)] __attribute__((aligned(8))) = {0};
	struct iovec part = {(void *)(uintptr_t)bytes, n};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *c;
	unsigned i;

	if (count) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * count);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * count);
		for (i = 0; i < count; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof(int));
	}
	if (sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

static void use(const struct control_message *m)
{
	struct options o;
	struct error err;
	char value[64];

	FUZZ_CHECK(m->length <= CONTROL_MAX && m->type > CONTROL_NONE && m->type < CONTROL_TYPES);
	FUZZ_CHECK(m->payload && m->payload[m->length] == '\0');
	if (control_value(m->payload, "token", value, sizeof(value)))
		control_token_equal(value, "0123456789abcdef0123456789abcdef");
	control_number(m->payload, "protocol");
	options_init(&o);
	if (m->type == CONTROL_COMMAND)
		options_parse_agent(&o, m->payload, '\n', &err);
}

static int lowest_free(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_message m = CONTROL_MESSAGE_INIT;
	int pair[2], before = lowest_free();
	struct error err;
	size_t at = 0, n;

	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	/* Each portion is preceded by a byte: its length, and descriptors now and then. */
	while (at < size) {
		unsigned how = data[at++];

		n = how == 255 ? size - at : MIN((size_t)(how & 63), size - at);
		if (n)
			send_portion(pair[1], data + at, n, pair[1], how >> 6 ? 1u << (how >> 6) : 0);
		at += n;
	}
	/* Descriptors of the socket itself are under way in it: this closes for good. */
	shutdown(pair[1], SHUT_WR);
	close(pair[1]);
	while (control_receive(pair[0], &m, 1000, &err) == 0)
		use(&m);
	FUZZ_CHECK(err.code != ETIMEDOUT);
	control_release(&m);
	close(pair[0]);
	FUZZ_CHECK(lowest_free() == before);
	return 0;
}
