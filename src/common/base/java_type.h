/*
 * java_type.h - how class files and the JVM spell types, and how Java does: "[I" is int[], "[Lp/A;" is an array of p/A.
 * Pure, any context.
 */
#ifndef JSTROBE_BASE_JAVA_TYPE_H
#define JSTROBE_BASE_JAVA_TYPE_H

#include <stddef.h>

/* The Java word for the primitive type LETTER, "int" for 'I'; NULL: it is none. */
const char *java_primitive(char letter);

struct java_class {
	const char *element; /* a word, or in the text that was given; a class has its slashes */
	size_t length;
	const char *behind;  /* an array's: what stands behind it, " of 1 KB to 2 KB"; mostly nothing */
	size_t dimensions;   /* pairs of brackets behind it; 0: it is no array */
};

/* The class called TEXT, as the JVM spells it. */
struct java_class java_class_of(const char *text);

#endif
