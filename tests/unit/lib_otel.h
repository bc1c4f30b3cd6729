/* What lib_otel.c and lib_otel_static.c share with their test. */
#ifndef LIB_OTEL_H
#define LIB_OTEL_H

#include <stdint.h>

struct otel_test_record {
	uint8_t trace[16], span[8], valid, flags;
	uint16_t attributes;
};

void otel_test_publish(struct otel_test_record *record);

#endif
