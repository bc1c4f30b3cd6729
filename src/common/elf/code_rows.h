/*
 * code_rows.h - unwind rows made from the code itself, for objects that do not describe their frames.
 *
 * On arm neither the JVM nor libc have .eh_frame: the little that .ARM.exidx holds is made for exceptions, and C++
 * without them has none. Each function is followed from its first instruction on, and what the instructions do to the
 * stack pointer gives the rows. CPUs with CPU_READS_CODE 1 have it (arch/<cpu>/code_rows.c).
 */
#ifndef JSTROBE_ELF_CODE_ROWS_H
#define JSTROBE_ELF_CODE_ROWS_H

#include "common/elf/object.h"
#include "common/elf/rows.h"

/*
 * Put rows for O's code into ROWS, as offsets from its start. Code that no function is known to reach gets
 * CFA_UNKNOWN. Normal code; rows->failed tells when memory was short.
 */
void code_rows_read(const struct object *o, struct rows *rows);

#endif
