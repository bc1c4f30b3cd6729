/* The command's side of a conversation, with agents that are none: any bytes, any speed, any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/talk/agent.h"
#include "cli/talk/conversation.h"
#include "entries.h"
#include "hostile.h"

#define ANSWER_NS NS_PER_S
#define ROOM (32u << 20) /* more than that no conversation may take */

static struct error err;
static unsigned notes;

static void take_note(const char *line)
{
	assert_null(strchr(line, '\n'));
	notes++;
}

static struct conversation begin(void)
{
	struct conversation c;

	conversation_init(&c);
	assert_int_equal(conversation_invite(&c, &err), 0);
	c.note = take_note;
	notes = 0;
	return c;
}

static void say(struct buffer *b, enum control_type type, const char *text)
{
	uint32_t n = (uint32_t)strlen(text);
	unsigned char header[CONTROL_HEADER] = {n & 0xff, n >> 8 & 0xff, n >> 16 & 0xff, n >> 24, (unsigned char)type};

	buffer_append(b, header, sizeof(header));
	buffer_append(b, text, n);
}

static int take(struct conversation *c, struct buffer *b)
{
	size_t used;
	int rc = conversation_take(c, b->data, b->length, &used, &err);

	memmove(b->data, b->data + used, b->length - used);
	b->length -= used;
	return rc;
}

/* ---- what an honest agent says ---------------------------------------------------- */

static void an_answer(void **state)
{
	struct conversation c = begin();
	struct buffer b = BUFFER_INIT;

	conversation_ask(&c, 0, ANSWER_NS);
	say(&b, CONTROL_NOTE, "one\ntwo");
	say(&b, CONTROL_TEXT, "a text");
	say(&b, CONTROL_TEXT, " in pieces");
	say(&b, CONTROL_STATUS, "running=1");
	assert_int_equal(take(&c, &b), 1);
	assert_int_equal(b.length, 0);
	say(&b, CONTROL_DONE, "taken=3");
	say(&b, CONTROL_ENDED, "taken=4");
	assert_int_equal(take(&c, &b), 0);
	assert_true(b.length > 0); /* what follows waits */
	assert_int_equal(notes, 2);
	assert_int_equal(c.text.length, 16);
	assert_string_equal(c.status, "running=1");
	assert_string_equal(c.answer, "taken=3");
	assert_int_equal(take(&c, &b), -ESHUTDOWN);
	assert_true(c.ended);
	assert_string_equal(c.answer, "taken=4");
	buffer_free(&b);
	conversation_free(&c);
}

/* What was asked and given up is answered late; that is no answer to what is asked now. */
static void late_answers(void **state)
{
	struct conversation c = begin();
	struct buffer b = BUFFER_INIT;

	conversation_ask(&c, 0, ANSWER_NS);
	assert_int_equal(conversation_left(&c, ANSWER_NS - 1), 1);
	assert_int_equal(conversation_left(&c, ANSWER_NS), 0);
	conversation_ask(&c, ANSWER_NS, ANSWER_NS);
	say(&b, CONTROL_FAILED, "code=5\nreason=late");
	say(&b, CONTROL_DONE, "taken=2");
	assert_int_equal(take(&c, &b), 0);
	assert_string_equal(c.answer, "taken=2");
	say(&b, CONTROL_DONE, "taken=3");
	assert_int_equal(take(&c, &b), -EPROTO); /* nothing was asked */
	buffer_free(&b);
	conversation_free(&c);
}

static void failures(void **state)
{
	static const struct {
		const char *text;
		int code;
	} cases[] = {
		{"code=17\nreason=there is one", EEXIST}, {"code=0\nreason=x", EIO}, {"", EIO},
		{"code=99999\nreason=x", EIO}, {"code=18446744073709551615", EIO},
		/* words of the command's own: a signal, the time, the connection */
		{"code=4\nreason=x", EIO}, {"code=110\nreason=x", EIO}, {"code=104\nreason=x", EIO},
		{"code=108\nreason=x", EIO},
	};
	struct conversation c = begin();
	struct buffer b = BUFFER_INIT;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		conversation_ask(&c, 0, ANSWER_NS);
		say(&b, CONTROL_FAILED, cases[i].text);
		assert_int_equal(take(&c, &b), -cases[i].code);
	}
	assert_string_equal(err.text, "x");
	buffer_free(&b);
	conversation_free(&c);
}

/* ---- who says hello ------------------------------------------------------------------ */

static int greet(struct conversation *c, struct control_parser *p, const char *text, enum control_type type)
{
	struct buffer b = BUFFER_INIT;
	size_t used = 0, part, at;
	int rc = 1;

	say(&b, type, text);
	/* in single bytes */
	for (at = 0; rc == 1 && at < b.length; at += part) {
		rc = conversation_greet(c, p, b.data + at, 1, &part, &err);
		used += part;
	}
	if (rc == 0)
		assert_int_equal(used, b.length);
	buffer_free(&b);
	return rc;
}

static void guests(void **state)
{
	struct control_parser one = CONTROL_PARSER_INIT, other = CONTROL_PARSER_INIT;
	struct conversation c = begin();
	char text[128];

	assert_int_equal(greet(&c, &one, "protocol=1\ntoken=0123456789abcdef0123456789abcdef\n", CONTROL_HELLO), -EAGAIN);
	assert_int_equal(greet(&c, &one, "protocol=1\n", CONTROL_HELLO), -EAGAIN);
	assert_int_equal(greet(&c, &one, "token=\n", CONTROL_HELLO), -EAGAIN);
	snprintf(text, sizeof(text), "token=%s\nprotocol=1\nversion=7", c.token);
	assert_int_equal(greet(&c, &one, text, CONTROL_NOTE), -EAGAIN);
	assert_int_equal(greet(&c, &one, text, CONTROL_TYPES), -EAGAIN);
	assert_int_equal(greet(&c, &other, text, CONTROL_HELLO), 0);
	assert_string_equal(c.version, "7");
	snprintf(text, sizeof(text), "token=%s\nprotocol=2\n", c.token);
	assert_int_equal(greet(&c, &other, text, CONTROL_HELLO), -EPROTO);
	control_parser_free(&one);
	control_parser_free(&other);
	conversation_free(&c);
}

/* ---- limits ----------------------------------------------------------------------------- */

/* Messages of TYPE with N bytes each without an end; the sum of bytes that were taken. */
static uint64_t flood(enum control_type type, size_t n)
{
	static char text[CONTROL_MAX + 1];
	struct conversation c = begin();
	struct buffer b = BUFFER_INIT;
	uint64_t taken = 0;
	int rc = 1;

	memset(text, 'x', n);
	text[n] = '\0';
	conversation_ask(&c, 0, ANSWER_NS);
	while (rc == 1) {
		say(&b, type, text);
		rc = take(&c, &b);
		taken += n;
		assert_true(taken < ROOM);
		assert_true(c.text.capacity < ROOM);
		assert_true(c.got[type].messages < 100000);
	}
	assert_int_equal(rc, -EPROTO);
	buffer_free(&b);
	conversation_free(&c);
	return taken;
}

static void floods(void **state)
{
	/* what honest agents send has room: list, metrics, status, notes */
	assert_true(flood(CONTROL_TEXT, 60000) > 1 << 20);
	assert_true(flood(CONTROL_STATUS, 4000) > 100000);
	assert_true(flood(CONTROL_NOTE, 200) > 20000);
	flood(CONTROL_TEXT, 0);
	flood(CONTROL_NOTE, 0);
	flood(CONTROL_STATUS, 0);
	flood(CONTROL_HELLO, 10);
	flood(CONTROL_COMMAND, 10);
	flood(CONTROL_PERF_ASK, 10);
}

/* Words at any pace do not put off the end: 1,000 notes, one each ms. */
static void one_deadline(void **state)
{
	struct conversation c = begin();
	struct buffer b = BUFFER_INIT;
	uint64_t now;

	conversation_ask(&c, 5, ANSWER_NS);
	for (now = 5; conversation_left(&c, now); now += NS_PER_MS) {
		assert_int_equal(conversation_left(&c, now), 5 + ANSWER_NS - now);
		say(&b, CONTROL_STATUS, "running=1");
		c.got[CONTROL_STATUS].messages = 0; /* the limit in messages is not what is tried here */
		assert_int_equal(take(&c, &b), 1);
	}
	assert_int_equal(now, 5 + ANSWER_NS);
	assert_int_equal(conversation_left(&c, now), UINT64_MAX); /* it is not waited for any more */
	buffer_free(&b);
	conversation_free(&c);
}

/* How much of LEFT bytes comes at a time: MOST at most. */
static size_t piece(struct hostile *h, size_t left, uint32_t most)
{
	size_t n = 1 + hostile_below(h, most);

	return MIN(left, n);
}

/* A message gives the same in whatever pieces it comes. */
static void pieces(void **state)
{
	struct hostile h = {.seed = 4};
	unsigned i;

	for (i = 0; i < 300; i++) {
		struct conversation whole = begin(), parts = begin();
		struct buffer b = BUFFER_INIT;
		struct error first;
		size_t used, at = 0, n;
		int rc, again = 1;

		hostile_words(&h, &b);
		conversation_ask(&whole, 0, ANSWER_NS);
		conversation_ask(&parts, 0, ANSWER_NS);
		rc = b.length ? conversation_take(&whole, b.data, b.length, &used, &err) : 1;
		first = err;
		while (again == 1 && at < b.length) {
			n = piece(&h, b.length - at, 40);
			again = conversation_take(&parts, b.data + at, n, &used, &err);
			at += used;
		}
		assert_int_equal(rc, again);
		if (rc < 0)
			assert_string_equal(first.text, err.text);
		assert_int_equal(whole.text.length, parts.text.length);
		assert_string_equal(whole.status ? whole.status : "", parts.status ? parts.status : "");
		buffer_free(&b);
		conversation_free(&whole);
		conversation_free(&parts);
	}
}

/* ---- hostile agents -------------------------------------------------------------------- */

static unsigned counted(unsigned few, unsigned many)
{
	return getenv("JSTROBE_SOAK") ? many : few;
}

static bool is_known(int rc)
{
	return rc == 1 || rc == 0 || (rc > -4096 && rc < 0);
}

/* One conversation of up to 20 commands, in pieces, with a clock of its own. How many bytes it was sent. */
static uint64_t converse(struct hostile *h, uint64_t *late)
{
	struct control_parser hello = CONTROL_PARSER_INIT;
	struct conversation c = begin();
	struct buffer b = BUFFER_INIT;
	uint64_t now = hostile_below(h, 1000), sent = 0, until;
	unsigned commands = 1 + hostile_below(h, 20);
	size_t used, n;
	int rc = 1;

	memcpy(h->token, c.token, sizeof(h->token));
	hostile_hello(h, &b);
	for (n = 0; rc == 1 && n < b.length; n += used)
		rc = conversation_greet(&c, &hello, b.data + n, piece(h, b.length - n, 99), &used, &err);
	assert_true(rc == 1 || rc == 0 || rc == -EAGAIN || rc == -EPROTO);
	while (rc == 0 && commands--) {
		until = now + ANSWER_NS;
		conversation_ask(&c, now, ANSWER_NS);
		rc = 1;
		/* until it has answered, or the time is over, whatever it sends */
		while (rc == 1 && conversation_left(&c, now)) {
			b.length = 0;
			hostile_words(h, &b);
			now += hostile_below(h, 3) ? hostile_below(h, NS_PER_MS) : hostile_below(h, ANSWER_NS);
			for (n = 0; rc == 1 && n < b.length; n += used, sent += used) {
				rc = conversation_take(&c, b.data + n, piece(h, b.length - n, 16384), &used, &err);
				assert_true(used > 0 || rc < 0);
			}
			assert_true(c.text.capacity < ROOM);
		}
		assert_true(is_known(rc));
		*late = MAX(*late, now > until + ANSWER_NS ? now - until : 0);
		rc = rc == 1 ? 0 : rc; /* the time is over: the command goes on */
	}
	buffer_free(&b);
	control_parser_free(&hello);
	conversation_free(&c);
	return sent;
}

static void hostile_agents(void **state)
{
	unsigned i, n = counted(20000, 1000000);
	struct hostile h = {.seed = 1};
	uint64_t sent = 0, late = 0;
	size_t before, most = 0;

	converse(&h, &late);
	before = mallinfo2().uordblks;
	for (i = 0; i < n; i++) {
		h.seed = i;
		sent += converse(&h, &late);
		most = MAX(most, mallinfo2().uordblks);
	}
	assert_int_equal(late, 0);
	assert_true(most <= before + (1 << 20)); /* all of it is given back each time; the allocator keeps some */
	print_message("%u conversations, %llu MB\n", n, (unsigned long long)sent >> 20);
}

/* ---- the same over sockets --------------------------------------------------------------- */

/* BYTES with four descriptors along. */
static void send_with_descriptors(int sock, const char *bytes, size_t n)
{
	char room[CMSG_SPACE(4 * sizeof(int))] __attribute__((aligned(8))) = {0};
	struct iovec part = {(char *)(uintptr_t)bytes, n};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	int fds[4] = {0, 0, 0, 0};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	if (sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

static struct agent agent_on(int sock, int wake)
{
	struct agent a;

	agent_init(&a, wake);
	a.sock = sock;
	a.talk.note = take_note;
	return a;
}

static void hostile_agents_on_sockets(void **state)
{
	unsigned i, n = counted(2000, 100000), before = descriptors();
	struct hostile h = {.seed = 1};
	struct buffer b = BUFFER_INIT;
	int ends[2], rc, j;

	for (i = 0; i < n; i++) {
		struct agent a;

		h.seed = i;
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
		a = agent_on(ends[0], -1);
		for (j = 0, rc = 0; j < 5 && (rc == 0 || rc == -ETIMEDOUT); j++) {
			b.length = 0;
			hostile_words(&h, &b);
			if (hostile_below(&h, 4))
				send(ends[1], b.data, b.length, MSG_NOSIGNAL | MSG_DONTWAIT);
			else if (b.length)
				send_with_descriptors(ends[1], b.data, b.length);
			if (hostile_below(&h, 30) == 0)
				shutdown(ends[1], SHUT_WR);
			rc = agent_command(&a, "status", 0, &err);
			assert_true(is_known(rc) && rc != 1);
		}
		close(ends[1]);
		agent_close(&a);
	}
	buffer_free(&b);
	assert_int_equal(descriptors(), before);
}

/* However much there is to read, a signal is seen first. */
static void signals_come_first(void **state)
{
	struct buffer b = BUFFER_INIT;
	int ends[2], wake[2], i;
	struct agent a;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(pipe(wake), 0);
	a = agent_on(ends[0], wake[0]);
	for (i = 0; i < 500; i++)
		say(&b, CONTROL_NOTE, "a note");
	assert_true(send(ends[1], b.data, b.length, MSG_DONTWAIT) > 0);
	assert_int_equal(write(wake[1], "x", 1), 1);
	notes = 0;
	assert_int_equal(agent_command(&a, "status", 60000, &err), -EINTR);
	assert_int_equal(agent_listen(&a, 60000, &err), -EINTR);
	assert_int_equal(notes, 0);
	close(ends[1]);
	close(wake[0]);
	close(wake[1]);
	buffer_free(&b);
	agent_close(&a);
}

/* The time for an answer is not put off by what is sent instead of it. */
static void the_time_for_an_answer(void **state)
{
	struct timespec begun, ended;
	struct buffer b = BUFFER_INIT;
	struct agent a;
	int ends[2], rc;
	pid_t child;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	a = agent_on(ends[0], -1);
	child = fork();
	if (child == 0) {
		say(&b, CONTROL_NOTE, "");
		close(ends[0]);
		while (send(ends[1], b.data, b.length, MSG_NOSIGNAL) > 0)
			usleep(2000);
		_exit(0);
	}
	close(ends[1]);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	rc = agent_command(&a, "status", 300, &err);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	assert_int_equal(rc, -ETIMEDOUT);
	assert_true(ended.tv_sec - begun.tv_sec < 20);
	agent_close(&a);
	buffer_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer),
		cmocka_unit_test(late_answers),
		cmocka_unit_test(failures),
		cmocka_unit_test(guests),
		cmocka_unit_test(floods),
		cmocka_unit_test(one_deadline),
		cmocka_unit_test(pieces),
		cmocka_unit_test(hostile_agents),
		cmocka_unit_test(hostile_agents_on_sockets),
		cmocka_unit_test(signals_come_first),
		cmocka_unit_test(the_time_for_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
