/* As lib_otel.c, with the variable in the static block. */
#include "lib_otel.h"

__attribute__((visibility("default"), tls_model("initial-exec"))) __thread struct otel_test_record *otel_thread_ctx_v1;

__attribute__((visibility("default"))) void otel_test_publish(struct otel_test_record *record)
{
	otel_thread_ctx_v1 = record;
}
