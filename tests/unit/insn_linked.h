/*
 * insn_linked.h - what the decoders of CPUs that link say of an instruction (src/agent/walk/arch/linked/instruction.h). To
 * be included behind one of them.
 */
#ifndef JSTROBE_TESTS_INSN_LINKED_H
#define JSTROBE_TESTS_INSN_LINKED_H

struct insn_word {
	uint32_t word;
	uint8_t does, number; /* 0: any */
	int64_t amount;
};

static inline void check_words(const struct insn_word *expected, size_t count)
{
	struct insn i;
	size_t n;

	for (n = 0; n < count; n++) {
		insn_decode(expected[n].word, &i);
		assert_int_equal(i.does, expected[n].does);
		assert_int_equal(i.amount, expected[n].amount);
		if (expected[n].number)
			assert_int_equal(i.number, expected[n].number);
	}
}

static inline void check_stack(uint32_t word, bool load, bool jumps, int before, int after, int link_at, int fp_at)
{
	struct insn i;

	insn_decode(word, &i);
	assert_int_equal(i.does, INSN_STACK);
	assert_int_equal(i.load, load);
	assert_int_equal(i.jumps, jumps);
	assert_int_equal(i.before, before);
	assert_int_equal(i.after, after);
	assert_int_equal(i.link_at, link_at);
	assert_int_equal(i.fp_at, fp_at);
}

#endif
