/*
 * A library that tells what its threads work for as OpenTelemetry has it. Its variable is in a block of its own.
 */
#include "lib_otel.h"

__attribute__((visibility("default"))) __thread struct otel_test_record *otel_thread_ctx_v1;

__attribute__((visibility("default"))) void otel_test_publish(struct otel_test_record *record)
{
	otel_thread_ctx_v1 = record;
}
