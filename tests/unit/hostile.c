#include "hostile.h"

#include <stdio.h>
#include <string.h>

uint32_t hostile_below(struct hostile *h, uint32_t n)
{
	/* splitmix64 */
	uint64_t x = h->seed += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return n ? (uint32_t)((x ^ x >> 31) >> 16) % n : 0;
}

static bool one_in(struct hostile *h, uint32_t n)
{
	return hostile_below(h, n) == 0;
}

static void put_message(struct buffer *out, unsigned type, const char *payload, uint32_t length, uint32_t said)
{
	unsigned char header[CONTROL_HEADER] = {said & 0xff, said >> 8 & 0xff, said >> 16 & 0xff, said >> 24,
						(unsigned char)type};

	buffer_append(out, header, sizeof(header));
	buffer_append(out, payload, length);
}

static const char *const texts[] = {
	"", "\n", "code=2\nreason=no such thing\n", "code=4\nreason=interrupted", "code=110\nreason=late",
	"code=18446744073709551615\nreason=x", "code=-1\nreason=\x1b]0;x\a", "code=104", "reason=no code",
	"taken=7\nstored=7\nloss=7 samples taken\nengine=perf\n", "taken=99999999999999999999999\nloss=\n",
	"running=1\nevent=cpu\nengine=perf\ninterval=10000000\n", "running=1\nowed=/etc/passwd\nrecording=1\n",
	"protocol=1\ntoken=00000000000000000000000000000000\nversion=1\n", "protocol=2\n", "copies=\x9b" "31m\n",
	"=\n==\n=x", "running\nrunning=\nrunning==1\n", "a note\nand another\n\n\nthird", "running=1",
};

/* A payload; its length in *LENGTH. */
static const char *payload(struct hostile *h, uint32_t *length)
{
	static char big[CONTROL_MAX + 64];
	uint32_t i, n;

	if (!one_in(h, 4)) {
		const char *text = texts[hostile_below(h, ARRAY_LEN(texts))];

		*length = (uint32_t)strlen(text);
		return text;
	}
	n = one_in(h, 8) ? CONTROL_MAX - hostile_below(h, 3) : hostile_below(h, 300);
	for (i = 0; i < n; i += 1 + hostile_below(h, 64))
		big[i] = (char)hostile_below(h, 256);
	if (n > 10 && one_in(h, 2))
		memcpy(big, "code=5\nreason=", MIN(n, 14u));
	*length = n;
	return big;
}

static void put_some(struct hostile *h, struct buffer *out)
{
	static const unsigned usual[] = {CONTROL_NOTE, CONTROL_TEXT, CONTROL_STATUS, CONTROL_DONE, CONTROL_DONE,
					 CONTROL_FAILED, CONTROL_ENDED};
	unsigned type = one_in(h, 12) ? hostile_below(h, 256) : usual[hostile_below(h, ARRAY_LEN(usual))];
	uint32_t length, said;
	const char *text = payload(h, &length);

	said = one_in(h, 30) ? hostile_below(h, UINT32_MAX) : one_in(h, 30) ? length + 1 + hostile_below(h, 9) : length;
	put_message(out, type, text, length, said);
}

/* The same again and again: 1 to 4,000 times, 1 MB at most. */
static void put_flood(struct hostile *h, struct buffer *out)
{
	size_t from = out->length, once;
	uint32_t times = 1u << hostile_below(h, 13);

	put_some(h, out);
	once = out->length - from;
	while (once && times-- && out->length - from < (1u << 20)) {
		struct buffer copy = BUFFER_INIT;

		buffer_append(&copy, out->data + from, once);
		buffer_append(out, copy.data, once);
		buffer_free(&copy);
	}
}

/* Bytes of what stands from FROM on become others, go, or come twice. */
static void mutate(struct hostile *h, struct buffer *out, size_t from)
{
	size_t n = out->length - from, at;

	if (!n)
		return;
	at = from + hostile_below(h, (uint32_t)n);
	switch (hostile_below(h, 4)) {
	case 0:
		out->data[at] = (char)hostile_below(h, 256);
		break;
	case 1:
		out->data[at] ^= (char)(1u << hostile_below(h, 8));
		break;
	case 2:
		out->length = at; /* cut: what follows is read as its rest */
		break;
	default:
		memmove(out->data + at, out->data + at + 1, out->length - at - 1);
		out->length--;
	}
}

void hostile_hello(struct hostile *h, struct buffer *out)
{
	char text[256];
	size_t from = out->length;

	if (one_in(h, 40)) {
		put_some(h, out);
		return;
	}
	snprintf(text, sizeof(text), "protocol=%u\ntoken=%s\nversion=%s\npid=1\n", one_in(h, 60) ? hostile_below(h, 5) : 1,
		 one_in(h, 60) ? "ffffffffffffffffffffffffffffffff" : h->token, one_in(h, 20) ? "\x1b[2J" : "0.1.0");
	put_message(out, one_in(h, 100) ? CONTROL_NOTE : CONTROL_HELLO, text, (uint32_t)strlen(text),
		    (uint32_t)strlen(text));
	if (one_in(h, 60))
		mutate(h, out, from);
}

void hostile_words(struct hostile *h, struct buffer *out)
{
	uint32_t i, n = hostile_below(h, 6);
	size_t from = out->length;

	for (i = 0; i < n; i++)
		put_some(h, out);
	if (one_in(h, 60))
		put_flood(h, out);
	if (one_in(h, 5))
		mutate(h, out, from);
	/* most often there is an honest end */
	if (!one_in(h, 3))
		put_message(out, CONTROL_DONE, "taken=1\n", 8, 8);
}
