/*
 * fuzz.h - what the fuzzers share. Each fuzz_NAME.c is one entry of libFuzzer; it is linked with
 * libFuzzer by `make fuzz`, and with replay.c, which runs the kept inputs, by `make check`.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* End the run with a finding, unless TRUE. */
#define FUZZ_CHECK(true_) ((true_) ? (void)0 : __builtin_trap())

/* The descriptor of a file without a name that holds DATA; the same one each time. PATH leads to it. */
int fuzz_file(const uint8_t *data, size_t size, char path[32]);

#endif
