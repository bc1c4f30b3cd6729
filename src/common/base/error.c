#include "common/base/error.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list args;

	err->code = code;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return -code;
}

const char *error_text(int code)
{
	/* of libc's own, made without memory: the same each time, so it does not matter who asks first */
	static locale_t english;
	locale_t known = __atomic_load_n(&english, __ATOMIC_ACQUIRE);

	if (!known) {
		known = newlocale(LC_ALL_MASK, "C", NULL);
		__atomic_store_n(&english, known, __ATOMIC_RELEASE);
	}
	return known ? strerror_l(code, known) : "the system says no more";
}
