#include "agent/tracing/trace_pace.h"

#define FIRST 16u
#define SMALLEST 8u
#define LARGEST 500u
#define FADES 0.8 /* what a batch counts when the next one is there */
#define LEAST_A_CLASS 20e3 /* ns: a slope below this is noise */

/* The pause of n classes as fixed + a_class * n, by the least squares. */
static void fit(const struct trace_pace *p, double *fixed, double *a_class)
{
	double n = p->classes / p->batches, pause = p->pauses / p->batches;
	double variance = p->squares / p->batches - n * n;
	double slope = variance > n * n / 100 ? (p->products / p->batches - n * pause) / variance : pause / n;

	*a_class = MIN(MAX(slope, LEAST_A_CLASS), MAX(pause / n, LEAST_A_CLASS));
	*fixed = MAX(pause - *a_class * n, 0.0);
}

uint32_t trace_pace_size(const struct trace_pace *p)
{
	double fixed, a_class, size;

	if (p->batches <= 0)
		return FIRST;
	fit(p, &fixed, &a_class);
	/* where a call alone takes the time, smaller ones would only be more of them */
	size = MAX(((double)TRACE_PAUSE - fixed) / a_class, fixed / a_class);
	size = MIN(size, 2.0 * p->last);
	return (uint32_t)MIN(MAX(size, (double)SMALLEST), (double)LARGEST);
}

void trace_pace_note(struct trace_pace *p, uint32_t count, uint64_t pause, uint64_t whole)
{
	double n = count, ns = (double)pause;

	p->batches = p->batches * FADES + 1;
	p->classes = p->classes * FADES + n;
	p->pauses = p->pauses * FADES + ns;
	p->squares = p->squares * FADES + n * n;
	p->products = p->products * FADES + n * ns;
	p->spent += whole;
	p->last = MAX(count, 1u);
}

uint64_t trace_pace_rest(const struct trace_pace *p, uint64_t whole, bool awaited)
{
	uint32_t share = awaited ? TRACE_SHARE_AWAITED : TRACE_SHARE;

	return p->spent > TRACE_AT_ONCE ? whole * (share - 1) : 0;
}
