/*
 * lasting_names.h - names of classes that are made while a program runs, without what is another in each run.
 *
 * The JVM and its frameworks give such classes an address or a running number: Foo$$Lambda$14+0x0000000800c03000,
 * $Proxy12, GeneratedMethodAccessor7. Two runs of a program, and two classes of one kind, have one name here, so that
 * they add up and can be compared. A lambda's class says what it calls, which the stacks tell:
 * "demo/OrderService$$Lambda" "→ keepJournal", in the place of the method that its interface has. Normal code.
 */
#ifndef JSTROBE_MODEL_LASTING_NAMES_H
#define JSTROBE_MODEL_LASTING_NAMES_H

#include "common/base/strings.h"
#include "profile/model/profile.h"

/* How the name of the frame of a lambda's class begins; frame_name_put has a blank before it instead of a dot. */
#define LAMBDA_ARROW "→ "
/* … and what stands between class and target where the whole is spelled. */
#define LAMBDA_BETWEEN "$$Lambda " LAMBDA_ARROW

/*
 * The profile with such names: the frames are its own, in the order that they have in the original; all else is the
 * original's, which must stay.
 */
struct lasting_names {
	struct profile profile;
	struct profile_frame *frames;
	struct strings texts;
};

/* 0 or -ENOMEM. Free in both cases. */
int lasting_names_build(struct lasting_names *l, const struct profile *p);
void lasting_names_free(struct lasting_names *l);

/*
 * The lasting name of class NAME, NUL-ended in OUT, which has room for strlen(NAME) + 1, or is NULL. Whether it is
 * another one.
 */
bool lasting_class_name(const char *name, char *out);

#endif
