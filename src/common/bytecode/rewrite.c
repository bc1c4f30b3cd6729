#include "common/bytecode/rewrite.h"

#include "common/bytecode/emit.h"

const struct skip_name skip_names[SKIPS] = {
#define SKIP(name, text) [SKIP_##name] = {#name, text},
#include "common/bytecode/skips.def"
};

/* A class on its way. */
struct job {
	const struct rewrite *rewrite;
	struct class_file file;
	struct pool pool;
	struct code_calls calls;
	struct code code;
	struct buffer methods; /* from the methods' count on */
	unsigned count;        /* methods with probes */
};

static const char *bytes_at(const struct job *j, uint32_t offset)
{
	return (const char *)j->file.file.bytes + offset;
}

/* Whether constant I is the method Thread.sleep(long). */
static bool is_sleep(const struct class_file *f, uint16_t i)
{
	struct cursor at = classfile_constant(f, i, CONSTANT_METHODREF);
	struct text class_text, name, type;

	return !at.failed && classfile_name(f, cursor_be16(&at), &class_text) &&
	       text_is(&class_text, "java/lang/Thread") &&
	       classfile_reference(f, i, &name, &type) && text_is(&name, "sleep") && text_is(&type, "(J)V");
}

static void name_sleep(struct job *j)
{
	const struct rewrite_probes *p = j->rewrite->probes;
	unsigned i;

	for (i = 1; p->sleep && i < j->file.pool_count && !j->calls.sleep_from; i++)
		if (is_sleep(&j->file, (uint16_t)i))
			j->calls.sleep_from = (uint16_t)i;
	if (j->calls.sleep_from)
		j->calls.sleep = pool_method(&j->pool, p->class, p->sleep, "(J)V");
}

/* The methods that probes call are named in the pool once a method of that number is chosen. */
static bool name_calls(struct job *j, uint32_t id)
{
	const struct rewrite_probes *p = j->rewrite->probes;
	bool gated = id & CODE_GATES;
	uint16_t *enter = gated ? &j->calls.enter_if : &j->calls.enter;
	uint16_t *leave = gated ? &j->calls.leave_if : &j->calls.leave;

	if (*enter)
		return true;
	*enter = pool_method(&j->pool, p->class, gated ? p->enter_if : p->enter, "(I)J");
	*leave = pool_method(&j->pool, p->class, gated ? p->leave_if : p->leave, "(J)V");
	if (j->calls.again)
		return !j->pool.failed;
	j->calls.again = pool_method(&j->pool, p->class, p->again, "(JI)V");
	if (p->enter_with)
		j->calls.enter_with = pool_method(&j->pool, p->class, p->enter_with, "(Ljava/lang/Object;I)J");
	name_sleep(j);
	return !j->pool.failed;
}

/* Method M with probes, into j->methods; on a reason to skip nothing is added. */
static enum skip put_probes(struct job *j, const struct member *m, uint32_t id)
{
	struct cursor at = m->attributes;
	size_t begin = j->methods.length;
	enum skip why = SKIP_NONE;
	bool done = false;
	struct attribute a;
	unsigned i;

	if (!name_calls(j, id))
		return SKIP_POOL_FULL;
	buffer_append(&j->methods, bytes_at(j, m->begin), class_offset(&j->file, &at) - m->begin);
	for (i = 0; why == SKIP_NONE && i < m->attribute_count && attribute_next(&j->file, &at, &a); i++) {
		if (text_is(&a.name, "Code")) {
			why = done ? SKIP_DAMAGED : code_rewrite(&j->code, m, &a, id, &j->methods);
			done = true;
		} else {
			buffer_append(&j->methods, bytes_at(j, a.begin), class_offset(&j->file, &at) - a.begin);
		}
	}
	if (why == SKIP_NONE && !done)
		why = SKIP_DAMAGED;
	if (why != SKIP_NONE)
		j->methods.length = begin;
	return why;
}

static void put_method(struct job *j, const struct member *m, uint32_t end)
{
	struct rewrite_method method = {&j->file, m};
	enum skip why = SKIP_NONE;
	uint32_t id;

	if (j->rewrite->choose(j->rewrite->data, &method, &id)) {
		why = m->access & ACC_NATIVE ? SKIP_NATIVE
		      : m->access & ACC_ABSTRACT ? SKIP_ABSTRACT
						 : put_probes(j, m, id);
		if (why == SKIP_NONE) {
			j->count++;
			return;
		}
		if (j->rewrite->skipped)
			j->rewrite->skipped(j->rewrite->data, &method, id, why);
	}
	buffer_append(&j->methods, bytes_at(j, m->begin), end - m->begin);
}

static void put_methods(struct job *j)
{
	struct cursor at = cursor_at(&j->file.file, j->file.methods);
	unsigned count = cursor_be16(&at);
	struct member m;

	emit_u2(&j->methods, count);
	while (count-- > 0 && member_next(&j->file, &at, &m))
		put_method(j, &m, class_offset(&j->file, &at));
}

/*
 *      head, count | pool | added | up to the fields | methods | attributes
 */
static void put_together(const struct job *j, struct buffer *out)
{
	const struct class_file *f = &j->file;

	buffer_append(out, bytes_at(j, 0), 8);
	emit_u2(out, j->pool.count);
	buffer_append(out, bytes_at(j, 10), f->pool_end - 10);
	buffer_append(out, j->pool.added.data, j->pool.added.length);
	buffer_append(out, bytes_at(j, f->pool_end), f->methods - f->pool_end);
	buffer_append(out, j->methods.data, j->methods.length);
	buffer_append(out, bytes_at(j, f->attributes), f->file.size - f->attributes);
}

unsigned rewrite_class(const uint8_t *bytes, size_t size, const struct rewrite *r, struct buffer *out,
		       enum skip *why)
{
	struct job j = {.rewrite = r, .methods = BUFFER_INIT};
	size_t begin = out->length;

	*why = SKIP_DAMAGED;
	if (classfile_open(&j.file, bytes, size)) {
		pool_init(&j.pool, &j.file);
		j.code.file = &j.file;
		j.code.pool = &j.pool;
		j.code.calls = &j.calls;
		put_methods(&j);
		if (j.count)
			put_together(&j, out);
		*why = SKIP_NONE;
		if (j.pool.added.failed || j.methods.failed || out->failed) {
			*why = SKIP_NO_MEMORY;
			out->length = begin;
			j.count = 0;
		}
		pool_free(&j.pool);
		code_free(&j.code);
	}
	classfile_close(&j.file);
	buffer_free(&j.methods);
	return j.count;
}
