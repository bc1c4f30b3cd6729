/*
 * class_maker.h - class files for tests, one method after the other.
 */
#ifndef CLASS_MAKER_H
#define CLASS_MAKER_H

#include "common/base/buffer.h"

struct class_maker {
	struct buffer pool, methods, bytes; /* bytes: the whole class after class_end */
	struct buffer code, attributes;     /* of the method at hand */
	unsigned constants, method_count, attribute_count, code_attribute_count;
	unsigned major, this_class, super_class, annotation;
	unsigned access, name, type;
	unsigned max_stack, max_locals, code_length;
	struct buffer handlers;
	unsigned handler_count;
	bool open, has_code;
};

void class_begin(struct class_maker *k, unsigned major, const char *name, const char *super);
/* A constant's number. */
unsigned class_utf8(struct class_maker *k, const char *text);
unsigned class_class(struct class_maker *k, const char *name);
unsigned class_methodref(struct class_maker *k, const char *class, const char *name, const char *type);
/* A new method, at first without code. */
void class_method(struct class_maker *k, unsigned access, const char *name, const char *type);
void class_code(struct class_maker *k, unsigned max_stack, unsigned max_locals, const uint8_t *code, size_t length);
void class_handler(struct class_maker *k, unsigned from, unsigned to, unsigned pc);
/* An attribute of its code. */
void class_code_attribute(struct class_maker *k, const char *name, const uint8_t *body, size_t length);
/* Give the class an annotation of TYPE ("Lx/Y;"). */
void class_annotate(struct class_maker *k, const char *type);
void class_end(struct class_maker *k);
void class_free(struct class_maker *k);

#endif
