/*
 * syscall_arguments.h - for replacements of syscall(): what stands behind the number. Also included by
 * tests/jvm/preload/fail.c.
 */
#ifndef SYSCALL_ARGUMENTS_H
#define SYSCALL_ARGUMENTS_H

#include <stdarg.h>

/* Fill long A[6] with what follows the parameter NUMBER: as many arguments as a call can have. */
#define SYSCALL_ARGUMENTS(number, a)                \
	do {                                        \
		va_list list;                       \
		int i;                              \
		va_start(list, number);             \
		for (i = 0; i < 6; i++)             \
			(a)[i] = va_arg(list, long); \
		va_end(list);                       \
	} while (0)

#endif
