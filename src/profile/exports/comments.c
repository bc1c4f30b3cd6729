#include "profile/exports/comments.h"

#include "profile/model/human.h"
#include "profile/model/loss_line.h"

void comments_made(struct buffer *line, const struct profile *p)
{
	buffer_printf(line, "jstrobe %s", JSTROBE_VERSION);
	if (p->pid)
		buffer_printf(line, ", pid %d", p->pid);
	if (*p->main_class)
		buffer_printf(line, ", %s", p->main_class);
	if (*p->jdk)
		buffer_printf(line, ", JDK %s", p->jdk);
}

/* Where a filter has left a part of P, which: all else that is said of the samples is of all of them. */
static void put_part(struct buffer *line, const struct profile *p)
{
	if (p->filtered)
		buffer_printf(line, "this file has %s of the %s stored samples, %s of %s; of all of them: ",
			      human_count(p->stored - p->left_out).text, human_count(p->stored).text,
			      human_amount(p->weight_stored - p->left_out_weight, p->weight_kind).text,
			      human_amount(p->weight_stored, p->weight_kind).text);
}

void comments_samples(struct buffer *line, const struct profile *p)
{
	buffer_printf(line, "%s: ", p->event);
	put_part(line, p);
	if (p->told)
		buffer_puts(line, p->told);
	else
		format_loss_line(p, line);
}
