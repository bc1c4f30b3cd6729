/*
 * classfile.h - the outline of a class file (JVMS chapter 4): where its constants, members and
 * attributes lie.
 *
 *      magic | version | pool ... | access this super | interfaces | fields | methods | attributes
 *                      ^ pool[1]                                             ^ methods
 *
 * The bytes may be damaged or hostile: all offsets kept here are inside the file, every further
 * read goes through a cursor. Normal code, any thread; nothing is shared.
 */
#ifndef JSTROBE_BYTECODE_CLASSFILE_H
#define JSTROBE_BYTECODE_CLASSFILE_H

#include "common/base/cursor.h"

enum {
	ACC_STATIC = 0x0008,
	ACC_SYNTHETIC = 0x1000,
	ACC_NATIVE = 0x0100,
	ACC_ABSTRACT = 0x0400,
};

enum constant_tag {
	CONSTANT_UTF8 = 1,
	CONSTANT_INTEGER = 3,
	CONSTANT_FLOAT = 4,
	CONSTANT_LONG = 5,
	CONSTANT_DOUBLE = 6,
	CONSTANT_CLASS = 7,
	CONSTANT_STRING = 8,
	CONSTANT_FIELDREF = 9,
	CONSTANT_METHODREF = 10,
	CONSTANT_INTERFACE_METHODREF = 11,
	CONSTANT_NAME_AND_TYPE = 12,
	CONSTANT_METHOD_HANDLE = 15,
	CONSTANT_METHOD_TYPE = 16,
	CONSTANT_DYNAMIC = 17,
	CONSTANT_INVOKE_DYNAMIC = 18,
	CONSTANT_MODULE = 19,
	CONSTANT_PACKAGE = 20,
};

/* A text of the pool, in the file: modified UTF-8, not NUL-ended. */
struct text {
	const char *at;
	uint16_t length;
};

struct class_file {
	struct span file;     /* the caller's */
	uint16_t major;
	uint16_t pool_count;  /* one more than the highest index */
	uint32_t *pool;       /* offset of each constant's tag; 0 = no constant has this number */
	uint32_t pool_end;
	uint16_t access, this_class, super_class; /* super_class 0 = java/lang/Object */
	uint32_t methods;     /* offset of the methods' count */
	uint32_t attributes;  /* offset of the count of the class's attributes */
};

struct attribute {
	struct text name;
	uint32_t begin;       /* offset of its name index */
	struct cursor body;
};

struct member {
	uint32_t begin;       /* offset of its access flags */
	uint16_t access;
	struct text name, type;
	struct cursor attributes; /* from the count on; for attribute_next */
	uint16_t attribute_count;
};

/* Outline BYTES[SIZE], which must stay. False if they are damaged or memory is short. To be closed in any case. */
bool classfile_open(struct class_file *c, const uint8_t *bytes, size_t size);
void classfile_close(struct class_file *c);

/* The constant INDEX, the cursor behind its tag; failed unless there is one with this TAG. */
struct cursor classfile_constant(const struct class_file *c, uint16_t index, enum constant_tag tag);
/* The text of constant INDEX; false unless it is one. */
bool classfile_text(const struct class_file *c, uint16_t index, struct text *text);
/* The name of the class that constant INDEX stands for ("java/lang/String"). */
bool classfile_name(const struct class_file *c, uint16_t index, struct text *text);
/* Name and type behind constant INDEX, a field, method or call site. */
bool classfile_reference(const struct class_file *c, uint16_t index, struct text *name, struct text *type);

/* Read the member at C's place, a method or a field, up to behind its attributes. */
bool member_next(const struct class_file *c, struct cursor *at, struct member *m);
/* Read the attribute at AT's place. */
bool attribute_next(const struct class_file *c, struct cursor *at, struct attribute *a);

/* The offset of AT's place in the file. */
static inline uint32_t class_offset(const struct class_file *c, const struct cursor *at)
{
	return (uint32_t)(at->at - c->file.bytes);
}

static inline bool text_is(const struct text *t, const char *word)
{
	size_t n = strlen(word);

	return t->length == n && memcmp(t->at, word, n) == 0;
}

/*
 * Go through the types of a descriptor ("(IJLjava/lang/String;)V" from behind the parenthesis):
 * *TYPE is the next one. False at its end, at a closing parenthesis, or if it is damaged.
 */
bool descriptor_next(struct text *rest, struct text *type);
/* Slots of TYPE on the stack or among the locals: 0 for V, 2 for J and D, else 1. */
static inline unsigned type_slots(const struct text *type)
{
	return type->at[0] == 'V' ? 0 : type->at[0] == 'J' || type->at[0] == 'D' ? 2 : 1;
}
/* Slots of the parameters of a method of TYPE (without `this`) and of its result; false if it is damaged. */
bool descriptor_slots(const struct text *type, unsigned *parameters, unsigned *result);

/* Annotations in class files (JVMS 4.7.16 to 4.7.20). */

/* Skip the annotation at AT's place; *TYPE is its class ("Ljava/lang/Deprecated;"). False if it is damaged. */
bool annotation_next(const struct class_file *c, struct cursor *at, struct text *type);

#endif
