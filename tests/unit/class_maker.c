#include "class_maker.h"

#include <string.h>

#include "common/bytecode/classfile.h"
#include "common/bytecode/emit.h"

void class_begin(struct class_maker *k, unsigned major, const char *name, const char *super)
{
	memset(k, 0, sizeof(*k));
	k->pool.fd = k->methods.fd = k->bytes.fd = k->code.fd = k->attributes.fd = k->handlers.fd = -1;
	k->constants = 1;
	k->major = major;
	k->this_class = class_class(k, name);
	k->super_class = class_class(k, super);
}

unsigned class_utf8(struct class_maker *k, const char *text)
{
	emit_u1(&k->pool, CONSTANT_UTF8);
	emit_u2(&k->pool, (unsigned)strlen(text));
	buffer_puts(&k->pool, text);
	return k->constants++;
}

static unsigned pair(struct class_maker *k, unsigned tag, unsigned first, unsigned second)
{
	emit_u1(&k->pool, tag);
	emit_u2(&k->pool, first);
	emit_u2(&k->pool, second);
	return k->constants++;
}

unsigned class_class(struct class_maker *k, const char *name)
{
	unsigned text = class_utf8(k, name);

	emit_u1(&k->pool, CONSTANT_CLASS);
	emit_u2(&k->pool, text);
	return k->constants++;
}

unsigned class_methodref(struct class_maker *k, const char *class, const char *name, const char *type)
{
	unsigned holder = class_class(k, class), named = class_utf8(k, name), typed = class_utf8(k, type);

	return pair(k, CONSTANT_METHODREF, holder, pair(k, CONSTANT_NAME_AND_TYPE, named, typed));
}

static void end_method(struct class_maker *k)
{
	if (!k->open)
		return;
	emit_u2(&k->methods, k->access);
	emit_u2(&k->methods, k->name);
	emit_u2(&k->methods, k->type);
	emit_u2(&k->methods, k->has_code);
	if (k->has_code) {
		emit_u2(&k->methods, class_utf8(k, "Code"));
		emit_u4(&k->methods, (uint32_t)(12 + k->code.length + k->handlers.length + k->attributes.length));
		emit_u2(&k->methods, k->max_stack);
		emit_u2(&k->methods, k->max_locals);
		emit_u4(&k->methods, (uint32_t)k->code.length);
		buffer_append(&k->methods, k->code.data, k->code.length);
		emit_u2(&k->methods, k->handler_count);
		buffer_append(&k->methods, k->handlers.data, k->handlers.length);
		emit_u2(&k->methods, k->code_attribute_count);
		buffer_append(&k->methods, k->attributes.data, k->attributes.length);
	}
	k->code.length = k->attributes.length = k->handlers.length = 0;
	k->handler_count = k->code_attribute_count = 0;
	k->has_code = k->open = false;
	k->method_count++;
}

void class_method(struct class_maker *k, unsigned access, const char *name, const char *type)
{
	end_method(k);
	k->access = access;
	k->name = class_utf8(k, name);
	k->type = class_utf8(k, type);
	k->open = true;
}

void class_code(struct class_maker *k, unsigned max_stack, unsigned max_locals, const uint8_t *code, size_t length)
{
	k->max_stack = max_stack;
	k->max_locals = max_locals;
	k->has_code = true;
	buffer_append(&k->code, code, length);
}

void class_handler(struct class_maker *k, unsigned from, unsigned to, unsigned pc)
{
	emit_u2(&k->handlers, from);
	emit_u2(&k->handlers, to);
	emit_u2(&k->handlers, pc);
	emit_u2(&k->handlers, 0);
	k->handler_count++;
}

void class_code_attribute(struct class_maker *k, const char *name, const uint8_t *body, size_t length)
{
	emit_u2(&k->attributes, class_utf8(k, name));
	emit_u4(&k->attributes, (uint32_t)length);
	buffer_append(&k->attributes, body, length);
	k->code_attribute_count++;
}

void class_annotate(struct class_maker *k, const char *type)
{
	k->annotation = class_utf8(k, type);
}

void class_end(struct class_maker *k)
{
	unsigned name = k->annotation ? class_utf8(k, "RuntimeVisibleAnnotations") : 0;

	end_method(k);
	emit_u4(&k->bytes, 0xcafebabe);
	emit_u2(&k->bytes, 0);
	emit_u2(&k->bytes, k->major);
	emit_u2(&k->bytes, k->constants);
	buffer_append(&k->bytes, k->pool.data, k->pool.length);
	emit_u2(&k->bytes, 0x0021);
	emit_u2(&k->bytes, k->this_class);
	emit_u2(&k->bytes, k->super_class);
	emit_u2(&k->bytes, 0);
	emit_u2(&k->bytes, 0);
	emit_u2(&k->bytes, k->method_count);
	buffer_append(&k->bytes, k->methods.data, k->methods.length);
	emit_u2(&k->bytes, k->annotation != 0);
	if (k->annotation) {
		emit_u2(&k->bytes, name);
		emit_u4(&k->bytes, 6);
		emit_u2(&k->bytes, 1);
		emit_u2(&k->bytes, k->annotation);
		emit_u2(&k->bytes, 0);
	}
}

void class_free(struct class_maker *k)
{
	buffer_free(&k->pool);
	buffer_free(&k->methods);
	buffer_free(&k->bytes);
	buffer_free(&k->code);
	buffer_free(&k->attributes);
	buffer_free(&k->handlers);
}
