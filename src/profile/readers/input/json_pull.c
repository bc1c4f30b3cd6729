#include "profile/readers/input/json_pull.h"

#include <stdlib.h>
#include <string.h>

#define OF_64_BITS "a number of 64 bits"
#define REAL_EXPONENT 5000 /* beyond that a number is 0, or too large */

void json_init(struct json *j, const void *bytes, size_t size)
{
	memset(j, 0, sizeof(*j));
	j->begin = j->at = bytes;
	j->end = j->begin + size;
	buffer_init(&j->text, -1);
}

void json_free(struct json *j)
{
	buffer_free(&j->text);
}

bool json_fail(struct json *j, const char *expected)
{
	if (!j->error)
		j->error = expected;
	return false;
}

char json_peek(struct json *j)
{
	while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' || *j->at == '\t' || *j->at == '\r'))
		j->at++;
	return j->error || j->at == j->end ? '\0' : *j->at;
}

static bool take(struct json *j, char c, const char *expected)
{
	if (json_peek(j) != c)
		return json_fail(j, expected);
	j->at++;
	return true;
}

bool json_open(struct json *j, char bracket)
{
	if (!take(j, bracket, bracket == '{' ? "an object" : "an array"))
		return false;
	if (++j->depth > JSON_DEPTH)
		return json_fail(j, "less nesting");
	j->first = true;
	return true;
}

/* Whether another member follows in a container that BRACKET ends. */
static bool more(struct json *j, char bracket)
{
	bool first = j->first;

	j->first = false;
	if (json_peek(j) == bracket) {
		j->at++;
		j->depth--;
		return false;
	}
	return !j->error && (first || take(j, ',', "a comma or the end"));
}

const char *json_key(struct json *j)
{
	const char *key = more(j, '}') ? json_string(j, NULL) : NULL;

	return key && take(j, ':', "a colon") ? key : NULL;
}

bool json_item(struct json *j)
{
	return more(j, ']') && !j->error;
}

/* ---- strings ---- */

static void put_utf8(struct buffer *b, uint32_t c)
{
	if (c < 0x80) {
		buffer_putc(b, (char)c);
		return;
	}
	if (c >= 0x10000) {
		buffer_putc(b, (char)(0xf0 | c >> 18));
		buffer_putc(b, (char)(0x80 | (c >> 12 & 0x3f)));
	} else if (c >= 0x800) {
		buffer_putc(b, (char)(0xe0 | c >> 12));
	}
	if (c >= 0x800)
		buffer_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
	else
		buffer_putc(b, (char)(0xc0 | c >> 6));
	buffer_putc(b, (char)(0x80 | (c & 0x3f)));
}

/* Four hex digits at P; -1: they are none. */
static int32_t hex4(const struct json *j, const char *p)
{
	int32_t value = 0;
	int i;

	if (j->end - p < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *d = p[i] ? strchr(digits, p[i]) : NULL;

		if (!d)
			return -1;
		value = value << 4 | (int32_t)(d - digits < 16 ? d - digits : d - digits - 6);
	}
	return value;
}

/* \uXXXX behind the 'u', with a second half where it is the first of a pair; a lone half becomes U+FFFD. */
static bool put_code(struct json *j)
{
	int32_t c = hex4(j, j->at), low = -1;

	if (c < 0)
		return json_fail(j, "four hexadecimal digits");
	j->at += 4;
	if (c >= 0xd800 && c < 0xdc00 && j->end - j->at >= 6 && j->at[0] == '\\' && j->at[1] == 'u')
		low = hex4(j, j->at + 2);
	if (low >= 0xdc00 && low < 0xe000) {
		j->at += 6;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	} else if (c >= 0xd800 && c < 0xe000) {
		c = 0xfffd;
	}
	put_utf8(&j->text, (uint32_t)c);
	return true;
}

static bool put_escape(struct json *j)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *p;

	if (++j->at >= j->end)
		return json_fail(j, "the end of a string");
	if (*j->at == 'u') {
		j->at++;
		return put_code(j);
	}
	p = *j->at ? strchr(from, *j->at) : NULL;
	if (!p)
		return json_fail(j, "an escape that JSON has");
	buffer_putc(&j->text, to[p - from]);
	j->at++;
	return true;
}

const char *json_string(struct json *j, size_t *length)
{
	j->text.length = 0;
	if (length)
		*length = 0;
	if (!take(j, '"', "a string"))
		return "";
	while (j->at < j->end && *j->at != '"') {
		const char *from = j->at, *stop = j->end;

		if (j->longest && j->text.length > j->longest) {
			json_fail(j, "a shorter string");
			return "";
		}
		if (*j->at == '\\') {
			if (!put_escape(j))
				return "";
			continue;
		}
		if (j->longest && (size_t)(j->end - from) > j->longest)
			stop = from + j->longest + 1;
		while (j->at < stop && *j->at != '"' && *j->at != '\\')
			j->at++;
		buffer_append(&j->text, from, (size_t)(j->at - from));
	}
	if (!take(j, '"', "the end of a string"))
		return "";
	if (length)
		*length = j->text.length;
	buffer_putc(&j->text, '\0');
	if (j->text.failed)
		json_fail(j, "more memory");
	return j->text.failed ? "" : j->text.data;
}

/* ---- other values ---- */

static bool is_digit(const struct json *j)
{
	return j->at < j->end && *j->at >= '0' && *j->at <= '9';
}

static bool is_exponent(const struct json *j)
{
	return j->at < j->end && (*j->at == 'e' || *j->at == 'E');
}

long double json_real(struct json *j)
{
	long double value;
	uint64_t digits = 0;
	int64_t exponent = 0, said = 0;
	bool minus, less, any = false, point = false;

	minus = json_peek(j) == '-';
	j->at += minus;
	for (; !j->error && j->at < j->end; j->at++) {
		if (*j->at == '.' && !point) {
			point = true;
			continue;
		}
		if (*j->at < '0' || *j->at > '9')
			break;
		any = true;
		if (digits < UINT64_MAX / 100) {
			digits = digits * 10 + (uint64_t)(*j->at - '0');
			exponent -= point;
		} else { /* beyond what can be told apart */
			exponent += !point;
		}
	}
	if (!any)
		json_fail(j, "a number");
	if (is_exponent(j) && !j->error) {
		j->at++;
		less = j->at < j->end && *j->at == '-';
		j->at += less || (j->at < j->end && *j->at == '+');
		for (; is_digit(j); j->at++)
			said = MIN(said * 10 + *j->at - '0', (int64_t)REAL_EXPONENT);
		exponent += less ? -said : said;
	}
	exponent = MAX(MIN(exponent, (int64_t)REAL_EXPONENT), (int64_t)-REAL_EXPONENT);
	for (value = (long double)digits; exponent > 0; exponent--)
		value *= 10;
	for (; exponent < 0; exponent++)
		value /= 10;
	return j->error ? 0 : minus ? -value : value;
}

/* The number at J, which has an exponent, as a whole one. */
static uint64_t scaled(struct json *j)
{
	long double value = json_real(j);

	if (value >= 18446744073709551616.0L)
		json_fail(j, OF_64_BITS);
	return j->error || value < 0 ? 0 : (uint64_t)value;
}

uint64_t json_number(struct json *j)
{
	uint64_t value = 0;
	const char *from;
	bool over = false;

	json_peek(j);
	for (from = j->at; !j->error && is_digit(j); j->at++)
		over |= __builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*j->at - '0'), &value);
	if (j->at == from)
		return json_fail(j, "a number");
	if (j->at < j->end && *j->at == '.')
		for (j->at++; is_digit(j);)
			j->at++;
	if (is_exponent(j)) {
		j->at = from;
		return scaled(j);
	}
	return over ? json_fail(j, OF_64_BITS) : j->error ? 0 : value;
}

uint64_t json_signed(struct json *j, bool *minus)
{
	*minus = json_peek(j) == '-';
	j->at += *minus;
	return json_number(j);
}

/* true, false, null, a number. */
static void skip_word(struct json *j)
{
	const char *from = j->at;

	while (j->at < j->end && *j->at && !strchr(",]} \t\r\n", *j->at))
		j->at++;
	if (j->at == from)
		json_fail(j, "a value");
}

bool json_take(struct json *j, const char *key, const struct json_field *list)
{
	for (; list->key; list++)
		if (strcmp(key, list->key) == 0) {
			*list->to = json_number(j);
			return true;
		}
	return false;
}

void json_skip(struct json *j)
{
	unsigned depth = j->depth;
	char stack[JSON_DEPTH];

	do {
		char c = json_peek(j);

		if (c == '{' || c == '[') {
			if (!json_open(j, c))
				return;
			stack[j->depth - 1] = c;
		} else if (c == '"') {
			json_string(j, NULL);
		} else {
			skip_word(j);
		}
		/* to the next value, out of whatever ends here */
		while (!j->error && j->depth > depth)
			if (stack[j->depth - 1] == '{' ? json_key(j) != NULL : json_item(j))
				break;
	} while (!j->error && j->depth > depth);
}
