/* What compiled code puts on its frame for a call from a barrier's slow path, read from what takes it off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "engine/engine.h"
#include "signal/walk.h"

/* Bytes saved at the return address where CODE stands. */
static uint32_t saved(const void *code, size_t n)
{
	static uint8_t room[256];

	memset(room, 0xf4, sizeof(room)); /* hlt: nothing goes on there */
	memcpy(room, code, n);
	return frame_saved((uintptr_t)room);
}
#define SAVED(...)                                                  \
	({                                                          \
		static const uint8_t code_[] = {__VA_ARGS__};       \
		saved(code_, sizeof(code_));                        \
	})

#define ADD8(n) 0x48, 0x83, 0xc4, n
#define BACK 0xe9, 0xea, 0xfe, 0xff, 0xff
#define BACK_SHORT 0xeb, 0xc9
#define OVER_THE_OTHER_CALL 0xe9, 5, 0, 0, 0, 0xe8, 1, 2, 3, 4
#define RELOAD_R11 0x4c, 0x8b, 0x1c, 0x24
#define RELOAD_RSI 0x48, 0x8b, 0x74, 0x24, 8

/* As JDK 17 and 25 make them. */
static void as_compiled(void **state)
{
	assert_int_equal(SAVED(RELOAD_RSI, 0xc5, 0xf8, 0x77, ADD8(16), BACK_SHORT), 16);
	assert_int_equal(SAVED(ADD8(8), OVER_THE_OTHER_CALL, RELOAD_R11, ADD8(16), BACK), 24);
	/* vmovdqu xmm0, xmm1; add rsp, 128; pop r11, r10, rcx; mov rdx, rax; pop rax */
	assert_int_equal(SAVED(0xc5, 0xfa, 0x6f, 0x04, 0x24, 0xc5, 0xfa, 0x6f, 0x4c, 0x24, 0x10, 0x48, 0x81,
			       0xc4, 0x80, 0, 0, 0, 0x41, 0x5b, 0x41, 0x5a, 0x59, 0x48, 0x8b, 0xd0, 0x58, BACK),
			 160);
	/* vmovsd xmm15 with a wide offset, xmm16 by EVEX; kmov k1; movdqu xmm9; mov eax, [rsp] */
	assert_int_equal(SAVED(0xc5, 0x7b, 0x10, 0xbc, 0x24, 0x80, 0, 0, 0, 0x62, 0xe1, 0xff, 0x08, 0x10, 0x44,
			       0x24, 0x11, 0xc4, 0xe1, 0xf8, 0x90, 0x4c, 0x24, 8, 0xf3, 0x44, 0x0f, 0x6f, 0x4c,
			       0x24, 0x10, 0x8b, 0x04, 0x24, 0x48, 0x81, 0xc4, 0, 1, 0, 0, BACK),
			 256);
}

/* Other code behind a call saves nothing. */
static void other_code(void **state)
{
	assert_int_equal(SAVED(BACK), 0);
	/* An epilogue: add rsp, 48; pop rbp; cmp rsp, [r15+…]; ja; ret */
	assert_int_equal(SAVED(ADD8(48), 0x5d, 0x49, 0x3b, 0xa7, 0x50, 4, 0, 0, 0x0f, 0x87, 1, 0, 0, 0, 0xc3), 0);
	assert_int_equal(SAVED(ADD8(48), 0x5d, 0xc3), 0);
	assert_int_equal(SAVED(RELOAD_RSI, 0x48, 0x85, 0xf6, 0x74, 0x10), 0);   /* test; je */
	assert_int_equal(SAVED(0x48, 0x89, 0x74, 0x24, 8, ADD8(16), BACK), 0);  /* a store */
	assert_int_equal(SAVED(0x48, 0x8b, 0x46, 0x18, ADD8(16), BACK), 0);     /* a load from elsewhere */
	assert_int_equal(SAVED(0x48, 0x83, 0xec, 16, BACK), 0);                 /* sub rsp */
	assert_int_equal(SAVED(ADD8(0xf0), BACK), 0);                           /* a negative number */
	assert_int_equal(SAVED(ADD8(16), RELOAD_R11), 0);                       /* no jump back */
}

/* Endless pops, and memory that cannot be read, end the look. */
static void hostile(void **state)
{
	uint8_t pops[256];
	struct error err;

	memset(pops, 0x58, sizeof(pops));
	assert_int_equal(saved(pops, sizeof(pops)), 0);
	assert_int_equal(faults_install(&err), 0);
	assert_int_equal(frame_saved(0x10), 0);
	faults_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_compiled), cmocka_unit_test(other_code), cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
