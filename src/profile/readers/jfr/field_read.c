/*
 * field_read.c - values of a type, read by the steps of its layout.
 */
#include "profile/readers/jfr/field_layout.h"
#include "profile/readers/jfr/jfr_reader.h"

static void skip_array(const struct field_layouts *s, uint32_t layout, struct reader *r)
{
	const struct field_layout *inner = &s->layouts.items[layout];
	const struct step *only = &s->steps.items[inner->first];
	uint64_t count = read_int(r);

	if (count > read_left(r)) {
		read_fail(r); /* each element has at least a byte */
		return;
	}
	if (inner->count == 1 && only->op == STEP_INTS && !r->wide) {
		read_skip_varints(r, count * only->count);
		return;
	}
	for (; inner->count && count && !r->c.failed; count--)
		field_layout_read(s, layout, r, NULL);
}

static uint64_t fixed_at(const uint8_t *at, unsigned size)
{
	struct reader r = read_between(at, at + size, false);

	return read_fixed(&r, size);
}

/* The steps of LIST where all the bytes that they may take can be read. */
static const uint8_t *read_freely(const struct step *step, const struct step *end, const uint8_t *at,
				  uint64_t *slots)
{
	uint32_t count;

	for (; step < end; step++) {
		switch ((enum step_op)step->op) {
		case STEP_INT:
			slots[step->slot] = read_varint_at(&at);
			break;
		case STEP_INTS:
			for (count = step->count; count; count--)
				read_varint_at(&at);
			break;
		case STEP_FIXED:
			slots[step->slot] = fixed_at(at, step->count);
			at += step->count;
			break;
		default: /* STEP_BYTES: no other has a length that can be told */
			at += step->count;
		}
	}
	return at;
}

void field_layout_read(const struct field_layouts *s, uint32_t layout, struct reader *r, uint64_t *slots)
{
	const struct field_layout *list = &s->layouts.items[layout];
	const struct step *step = &s->steps.items[list->first], *end = step + list->count;

	if (likely(list->most && read_left(r) >= list->most)) {
		r->c.at = read_freely(step, end, r->c.at, slots);
		return;
	}
	for (; step < end && !r->c.failed; step++) {
		if (step->op == STEP_INT) {
			slots[step->slot] = read_varint(r);
			continue;
		}
		if (step->op == STEP_INTS) {
			read_skip_varints(r, step->count);
			continue;
		}
		if (step->op == STEP_BYTES) {
			read_skip(r, step->count);
			continue;
		}
		if (step->op == STEP_FIXED) {
			slots[step->slot] = read_fixed(r, step->count);
			continue;
		}
		if (step->slot != LAYOUT_NO_SLOT)
			slots[step->slot] = (uintptr_t)r->c.at;
		if (step->op == STEP_TEXT)
			text_skip(r);
		else if (step->op == STEP_ARRAY)
			skip_array(s, step->count, r);
	}
}
