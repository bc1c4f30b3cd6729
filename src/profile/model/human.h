/*
 * human.h - numbers as people read them. Pure functions, any thread.
 *
 * The result is a struct by value, so that it can stand inside a printf:
 *   buffer_printf(out, "%s of %s", human_time(a).text, human_time(b).text);
 */
#ifndef JSTROBE_MODEL_HUMAN_H
#define JSTROBE_MODEL_HUMAN_H

#include "common/base/buffer.h"
#include "common/words/events.h"

struct human {
	char text[40];
};

/* "1,234,567" */
struct human human_count(uint64_t n);
/* The ending of what there are N of: "1 thread", "2 threads". */
static inline const char *human_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}
/* "830 ns", "12.3 µs", "2.1 ms", "9.99 s", "3 min 20 s", "2 h 05 min"; exact ones bare: "10 ms" */
struct human human_time(uint64_t ns);
/* A weight: ns as a time, else a count. */
struct human human_amount(uint64_t weight, enum weight_kind kind);
/* "60 KB": bytes in binary steps */
struct human human_bytes(uint64_t bytes);
/*
 * The same of estimates with a standard error, as few digits as it leaves sure: "~840", "~1.3 MB". What one to four
 * happenings make out has no sure digit: what it is less than, with a certainty of 97.5 %, "< 200". ERROR 0: exact.
 */
struct human human_count_about(uint64_t n, uint64_t error);
struct human human_time_about(uint64_t ns, uint64_t error);
struct human human_bytes_about(uint64_t bytes, uint64_t error);
/*
 * PART of WHOLE as "12.34 %". Never rounds up to 100 nor down to 0: what is not all reads
 * "99.99 %", what is not nothing "< 0.01 %". "0 %" when WHOLE is 0.
 */
struct human human_percent(uint64_t part, uint64_t whole);
/* "2026-11-21 11:46:36 UTC" from ns since 1970 */
struct human human_date(uint64_t ns);

/* Append TEXT (UTF-8) padded with spaces on the left to WIDTH columns. */
void human_right(struct buffer *out, const char *text, int width);

#endif
