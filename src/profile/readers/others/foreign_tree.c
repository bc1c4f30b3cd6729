#include "profile/readers/others/foreign_tree.h"

#include <stdlib.h>

enum { NODE_CALLER, NODE_FRAME, NODE_WORDS };

uint32_t foreign_tree_child(struct foreign_tree *t, uint32_t node, uint32_t frame)
{
	const uint32_t words[NODE_WORDS] = {node + 1, frame};
	uint32_t number = t->to->no_memory ? LISTS_FAILED : lists_add(&t->nodes, words, NODE_WORDS);

	t->to->no_memory |= number == LISTS_FAILED;
	return number;
}

uint32_t foreign_tree_caller(const struct foreign_tree *t, uint32_t node)
{
	uint32_t n;

	return lists_get(&t->nodes, node, &n)[NODE_CALLER] - 1;
}

uint32_t foreign_tree_frame(const struct foreign_tree *t, uint32_t node)
{
	uint32_t n;

	return lists_get(&t->nodes, node, &n)[NODE_FRAME];
}

static uint32_t make(struct foreign_tree *t, uint32_t node)
{
	struct read_aggregate *to = t->to;
	uint32_t i, first;

	t->frames.count = 0;
	for (; node != FOREIGN_TREE_ROOT; node = foreign_tree_caller(t, node)) {
		uint32_t *frame = VECTOR_PUSH(&t->frames);

		if (!frame)
			return LISTS_FAILED;
		*frame = foreign_tree_frame(t, node);
		if (to->most_words && to->stacks.words.count + t->frames.count > to->most_words) {
			read_aggregate_refuse(to, "deep stacks");
			return LISTS_FAILED;
		}
	}
	for (i = 0; i < t->frames.count / 2; i++) {
		first = t->frames.items[i];
		t->frames.items[i] = t->frames.items[t->frames.count - 1 - i];
		t->frames.items[t->frames.count - 1 - i] = first;
	}
	return lists_add(&to->stacks, t->frames.items, (uint32_t)t->frames.count);
}

uint32_t foreign_tree_stack(struct foreign_tree *t, uint32_t node)
{
	uint32_t number, *kept;

	if (node == FOREIGN_TREE_ROOT)
		return lists_add(&t->to->stacks, NULL, 0);
	while (t->stacks.count <= node) {
		kept = VECTOR_PUSH(&t->stacks);
		if (!kept) {
			t->to->no_memory = true;
			return LISTS_FAILED;
		}
	}
	if (t->stacks.items[node])
		return t->stacks.items[node] - 1;
	number = make(t, node);
	t->to->no_memory |= number == LISTS_FAILED;
	t->stacks.items[node] = number + 1;
	return number;
}

void foreign_tree_free(struct foreign_tree *t)
{
	lists_free(&t->nodes);
	free(t->stacks.items);
	free(t->frames.items);
}
