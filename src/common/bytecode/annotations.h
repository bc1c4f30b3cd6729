/*
 * annotations.h - annotations in class files (JVMS 4.7.16 to 4.7.20).
 */
#ifndef JSTROBE_BYTECODE_ANNOTATIONS_H
#define JSTROBE_BYTECODE_ANNOTATIONS_H

#include "common/bytecode/classfile.h"

/* Skip the annotation at AT's place; *TYPE is its class ("Ljava/lang/Deprecated;"). False if it is damaged. */
bool annotation_next(const struct class_file *c, struct cursor *at, struct text *type);

#endif
