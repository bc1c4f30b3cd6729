#include "profile/readers/jfr/field_layout.h"

#include <stdlib.h>

#include "profile/readers/input/input.h"

#define NESTED_MAX 16
#define STEPS_MAX 65536
#define INTS_MAX 64
/* Fields looked at, by how many there are: types may hold one another many times over. */
#define WORK_ANYWAY LIMIT_COUNT(10000)
#define WORK_A_FIELD 16

/* A list under construction: steps of lists inside it are made meanwhile, so it lies apart. */
struct list {
	VECTOR(struct step) steps;
	const struct wanted *wanted;
	size_t wanted_count;
};

static uint32_t plain(struct field_layouts *s, uint32_t type, unsigned depth);

void field_layouts_init(struct field_layouts *s, const struct metadata *m, bool wide)
{
	struct step *first;

	memset(s, 0, sizeof(*s));
	s->metadata = m;
	s->wide = wide;
	/* an array for lists without steps to point into */
	first = VECTOR_PUSH(&s->steps);
	s->no_memory = !first;
}

void field_layouts_free(struct field_layouts *s)
{
	free(s->steps.items);
	free(s->layouts.items);
	map_free(&s->plain);
	memset(s, 0, sizeof(*s));
}

static bool add(struct field_layouts *s, struct list *l, enum step_op op, uint8_t slot, uint32_t count)
{
	struct step *last = l->steps.count ? &l->steps.items[l->steps.count - 1] : NULL;

	if (last && last->op == op && (op == STEP_INTS || op == STEP_BYTES)) {
		last->count += count;
		return true;
	}
	last = l->steps.count < STEPS_MAX ? VECTOR_PUSH(&l->steps) : NULL;
	if (!last) {
		s->no_memory |= l->steps.count < STEPS_MAX;
		return false;
	}
	*last = (struct step){op, slot, count};
	return true;
}

/* Whole numbers, and how many bytes they have when they are not compressed. */
static unsigned whole_number(const char *type)
{
	return !strcmp(type, "long") ? 8 : !strcmp(type, "int") ? 4 :
	       !strcmp(type, "short") || !strcmp(type, "char") ? 2 : 0;
}

static unsigned fixed_size(const char *type)
{
	return !strcmp(type, "double") ? 8 : !strcmp(type, "float") ? 4 :
	       !strcmp(type, "byte") || !strcmp(type, "boolean") ? 1 : 0;
}

static bool add_number(struct field_layouts *s, struct list *l, unsigned bytes, bool compressed,
		       uint8_t slot)
{
	if (compressed)
		return add(s, l, slot == LAYOUT_NO_SLOT ? STEP_INTS : STEP_INT, slot, 1);
	return add(s, l, slot == LAYOUT_NO_SLOT ? STEP_BYTES : STEP_FIXED, slot, bytes);
}

static uint8_t slot_of(const struct list *l, const struct metadata_field *f)
{
	size_t i;

	for (i = 0; i < l->wanted_count; i++)
		if (strcmp(l->wanted[i].field, f->name) == 0)
			return l->wanted[i].slot;
	return LAYOUT_NO_SLOT;
}

static bool add_fields(struct field_layouts *s, struct list *l, uint32_t type, unsigned depth);

/* One value of the type that F has, or a key of it. */
static bool add_value(struct field_layouts *s, struct list *l, const struct metadata_field *f,
		      uint8_t slot, unsigned depth)
{
	const char *name;
	struct list none;
	bool ok;

	if (f->pooled)
		return add_number(s, l, 8, !s->wide, slot);
	if (f->type == METADATA_NONE)
		return false;
	name = s->metadata->types.items[f->type].name;
	if (whole_number(name))
		return add_number(s, l, whole_number(name), !s->wide, slot);
	if (fixed_size(name))
		return add_number(s, l, fixed_size(name), false, slot);
	if (strcmp(name, "java.lang.String") == 0)
		return add(s, l, STEP_TEXT, slot, 1);
	if (depth > NESTED_MAX)
		return false;
	/* a struct in a struct: what is in it is not needed */
	none = (struct list){.steps = {l->steps.items, l->steps.count, l->steps.capacity}};
	ok = add_fields(s, &none, f->type, depth + 1);
	l->steps.items = none.steps.items;
	l->steps.count = none.steps.count;
	l->steps.capacity = none.steps.capacity;
	return ok;
}

/* A list of the values of F's type, for an array. */
static uint32_t keep(struct field_layouts *s, struct list *l);

static uint32_t elements(struct field_layouts *s, const struct metadata_field *f, unsigned depth)
{
	struct metadata_field one = *f;
	struct list l = {.wanted = NULL};
	uint32_t layout = LAYOUT_NONE;

	if (!f->pooled && f->type != METADATA_NONE && s->metadata->types.items[f->type].count)
		return plain(s, f->type, depth + 1);
	one.array = false;
	if (add_value(s, &l, &one, LAYOUT_NO_SLOT, depth))
		layout = keep(s, &l);
	free(l.steps.items);
	return layout;
}

static bool add_fields(struct field_layouts *s, struct list *l, uint32_t type, unsigned depth)
{
	const struct metadata_type *t = &s->metadata->types.items[type];
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		const struct metadata_field *f = &s->metadata->fields.items[t->first + i];
		uint8_t slot = slot_of(l, f);
		uint32_t inner;

		if (s->work++ > WORK_ANYWAY + WORK_A_FIELD * (uint64_t)s->metadata->fields.count)
			return false;
		if (!f->array) {
			if (!add_value(s, l, f, slot, depth))
				return false;
			continue;
		}
		inner = elements(s, f, depth);
		if (inner == LAYOUT_NONE || !add(s, l, STEP_ARRAY, slot, inner))
			return false;
	}
	return true;
}

/* How many bytes a step may take; 0 if there is no telling. */
static uint32_t most_of(const struct step *step)
{
	switch ((enum step_op)step->op) {
	case STEP_INT:
		return 9;
	case STEP_INTS:
		return step->count < INTS_MAX ? 9 * step->count : 0;
	case STEP_FIXED:
	case STEP_BYTES:
		return step->count < INTS_MAX ? step->count : 0;
	default:
		return 0;
	}
}

/* The same of a whole list. */
static uint32_t most_of_all(const struct field_layouts *s, const struct field_layout *layout)
{
	uint32_t i, most = 0, one = 1;

	for (i = 0; one && i < layout->count && i < INTS_MAX; i++) {
		one = most_of(&s->steps.items[layout->first + i]);
		most += one;
	}
	return one && i == layout->count ? most : 0;
}

static uint32_t keep(struct field_layouts *s, struct list *l)
{
	struct field_layout *layout = VECTOR_PUSH(&s->layouts);
	size_t i;

	if (!layout || s->steps.count + l->steps.count > UINT32_MAX / 2) {
		s->no_memory = true;
		return LAYOUT_NONE;
	}
	layout->first = (uint32_t)s->steps.count;
	for (i = 0; i < l->steps.count; i++) {
		struct step *step = VECTOR_PUSH(&s->steps);

		if (!step) {
			s->no_memory = true;
			return LAYOUT_NONE;
		}
		*step = l->steps.items[i];
		layout->count++;
	}
	layout->most = most_of_all(s, layout);
	return (uint32_t)s->layouts.count - 1;
}

static uint32_t build(struct field_layouts *s, uint32_t type, const struct wanted *wanted, size_t count,
		      unsigned depth)
{
	struct list l = {.wanted = wanted, .wanted_count = count};
	uint32_t layout = LAYOUT_NONE;

	s->work++;
	if (type != METADATA_NONE && depth <= NESTED_MAX && add_fields(s, &l, type, depth))
		layout = keep(s, &l);
	free(l.steps.items);
	return layout;
}

/* Types that hold arrays of themselves end at the depth limit: no known file has any. */
static uint32_t plain(struct field_layouts *s, uint32_t type, unsigned depth)
{
	uint32_t *slot = map_get(&s->plain, type), layout;

	if (slot)
		return *slot - 1;
	layout = build(s, type, NULL, 0, depth);
	if (layout == LAYOUT_NONE)
		return LAYOUT_NONE;
	slot = map_put(&s->plain, type, NULL);
	if (slot)
		*slot = layout + 1;
	s->no_memory |= !slot;
	return slot ? layout : LAYOUT_NONE;
}

uint32_t field_layout_of(struct field_layouts *s, uint32_t type, const struct wanted *wanted, size_t count)
{
	return count ? build(s, type, wanted, count, 0) :
	       type != METADATA_NONE ? plain(s, type, 0) : LAYOUT_NONE;
}

uint32_t field_layout_up_to(struct field_layouts *s, uint32_t type, const struct wanted *wanted, size_t count)
{
	uint32_t number = field_layout_of(s, type, wanted, count);
	struct field_layout *layout = number == LAYOUT_NONE ? NULL : &s->layouts.items[number];
	struct step *last;

	for (; layout && layout->count; layout->count--) {
		last = &s->steps.items[layout->first + layout->count - 1];
		if (last->op == STEP_INTS || last->op == STEP_BYTES || last->slot == LAYOUT_NO_SLOT)
			continue;
		if (last->op == STEP_TEXT || last->op == STEP_ARRAY)
			last->op = STEP_HERE;
		break;
	}
	return number;
}

bool field_layout_is_row(const struct field_layouts *s, uint32_t layout, const uint8_t *slots, size_t count)
{
	const struct field_layout *list = &s->layouts.items[layout];
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct step *step = &s->steps.items[list->first + i];

		if (i >= count || step->op != STEP_INT || step->slot != slots[i])
			return false;
	}
	return list->count == count;
}

uint32_t field_layout_of_text(struct field_layouts *s)
{
	struct list l = {.wanted = NULL};
	uint32_t layout = LAYOUT_NONE;

	if (add(s, &l, STEP_TEXT, LAYOUT_NO_SLOT, 1))
		layout = keep(s, &l);
	free(l.steps.items);
	return layout;
}

uint32_t field_layout_of_elements(struct field_layouts *s, uint32_t type, const char *field,
			   const struct wanted *wanted, size_t count)
{
	const struct metadata_type *t = type == METADATA_NONE ? NULL : &s->metadata->types.items[type];
	uint32_t i;

	for (i = 0; t && i < t->count; i++) {
		const struct metadata_field *f = &s->metadata->fields.items[t->first + i];

		if (f->array && !f->pooled && strcmp(f->name, field) == 0)
			return field_layout_of(s, f->type, wanted, count);
	}
	return LAYOUT_NONE;
}
