#include "profile/model/lasting_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"

/* ---- a class ---- */

/*
 * What stands behind a mark in the name of a made class: digits, hexadecimal ones, or letters too. It is left out, and
 * so are the '$' at the end of the mark. AT_END: the name ends there, or it is no such class; AT_BEGIN: it begins with
 * the mark, but for its package.
 */
enum { DIGITS = 'd', HEX = 'h', LETTERS = 'l' };
enum { ANYWHERE = 'a', AT_END = 'e', AT_BEGIN = 'b', ALONE = 'x' }; /* ALONE: both */

/* The tail, the place, the mark. */
static const char made[] =
	"de$$Lambda$\0"
	"dx$Proxy\0"
	"dbjdk/proxy\0" /* jdk/proxy2/$Proxy12 */
	"dxGeneratedMethodAccessor\0"
	"dxGeneratedConstructorAccessor\0"
	"dxGeneratedSerializationConstructorAccessor\0"
	"haCGLIB$$\0" /* Foo$$EnhancerBySpringCGLIB$$1a2b3c4d$$FastClassBySpringCGLIB$$5e6f7a8b */
	"haByGuice$$\0"
	"la$ByteBuddy$\0"
	"da$MockitoMock$\0"
	"la$HibernateProxy$\0";

static bool is_hex(char c)
{
	return ascii_is_digit(c) || (c >= 'a' && c <= 'f');
}

/* How long the tail at TEXT is, of those before END. */
static size_t tail_length(char tail, const char *text, const char *end)
{
	size_t n = 0;

	while (text + n < end && (tail == DIGITS ? ascii_is_digit(text[n]) : tail == HEX ? is_hex(text[n]) :
				  ascii_is_digit(text[n]) || ascii_is_letter(text[n])))
		n++;
	return n;
}

/* Hidden classes are Name+0x…, Name.0x…, Name/0x…, and Name/123 (JDK 8): where NAME has that, or its end. */
static const char *hidden_end(const char *name)
{
	const char *end = name + strlen(name), *p = end;

	while (p > name && is_hex(p[-1]))
		p--;
	if (p > name + 2 && p < end && p[-1] == 'x' && p[-2] == '0' && strchr("+./", p[-3]))
		return p - 3;
	for (p = end; p > name && ascii_is_digit(p[-1]);)
		p--;
	return p > name + 1 && p < end && p[-1] == '/' ? p - 1 : end;
}

/* What is left out of NAME at TEXT, if one of the marks is there: KEPT characters, then so many are skipped. */
static size_t skipped(const char *name, const char *text, const char *end, size_t *kept)
{
	bool begins = text == name || text[-1] == '/' || text[-1] == '.';
	size_t n, length;
	const char *m;

	for (m = made; *m; m += 3 + length) {
		char tail = m[0], place = m[1];

		length = strlen(m + 2);
		if ((size_t)(end - text) < length || memcmp(text, m + 2, length) != 0)
			continue;
		n = tail_length(tail, text + length, end);
		if (!n || (!begins && (place == AT_BEGIN || place == ALONE)) ||
		    (text + length + n != end && (place == AT_END || place == ALONE)))
			continue;
		for (*kept = length; m[1 + *kept] == '$'; --*kept)
			;
		return length - *kept + n;
	}
	return 0;
}

bool lasting_class_name(const char *name, char *out)
{
	const char *end = hidden_end(name), *p = name;
	bool other = *end;
	size_t kept, n;

	while (p < end) {
		n = skipped(name, p, end, &kept);
		other |= n != 0;
		if (!n)
			kept = 1;
		if (out)
			out = (char *)memcpy(out, p, kept) + kept;
		p += kept + n;
	}
	if (out)
		*out = '\0';
	return other;
}

/* ---- lambdas ---- */

/* How much a frame above a lambda's says of what the lambda is. */
enum rank { RANK_NONE, RANK_BOXING, RANK_CALLED, RANK_BODY };

/* A lambda's class, by its own name, and what it calls. */
struct lambda {
	uint32_t samples; /* of the best frame above so far */
	uint32_t frame;   /* which that is */
	uint8_t rank;
};

struct search {
	const struct profile *profile;
	struct strings classes;  /* own names of lambdas' classes */
	struct map places;       /* … → lambda + 1 */
	struct lambda *lambdas;
	uint32_t *of_frame;      /* frame → lambda + 1; 0: it is none */
	struct map above;        /* lambda and frame above → samples */
};

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && memcmp(text + n - k, end, k) == 0;
}

static bool is_lambda(const struct profile_frame *f, const char *lasting)
{
	return ends_in(lasting, "$$Lambda") && f->name[0] && f->name[0] != '<' &&
	       strcmp(f->name, "get$Lambda") != 0 && strcmp(f->name, "writeReplace") != 0;
}

/* Where the name of the method that lambda body NAME is of begins and how long it is; 0: it is no such body. */
static size_t body_of(const char *name, const char **begin)
{
	const char *p, *end;

	/* javac's are lambda$method$0; lambda$0 and lambda$null$0 say nothing of a method */
	if (strncmp(name, "lambda$", 7) != 0 || ascii_is_digit(name[7]) || strncmp(name + 7, "null$", 5) == 0)
		return 0;
	*begin = name + 7;
	end = *begin + strlen(*begin);
	for (p = end; p > *begin && ascii_is_digit(p[-1]);)
		p--;
	return p > *begin + 1 && p[-1] == '$' ? (size_t)(p - 1 - *begin) : (size_t)(end - *begin);
}

/* The class in which the lambda of class NAME stands: so many characters. */
static size_t host_length(const char *name)
{
	const char *mark = strstr(name, "$$Lambda");

	return mark ? (size_t)(mark - name) : strlen(name);
}

static bool is_boxing(const struct profile_frame *f)
{
	return strncmp(f->class_name, "java/lang/", 10) == 0 && (strcmp(f->name, "valueOf") == 0 ||
								   ends_in(f->name, "Value"));
}

static enum rank rank_of(const struct profile_frame *lambda, const struct profile_frame *above)
{
	size_t host = host_length(lambda->class_name);

	if (!above->class_name || !above->name[0] || (above->kind == FRAME_OTHER))
		return RANK_NONE;
	if (strncmp(above->class_name, lambda->class_name, host) == 0 && !above->class_name[host] &&
	    strncmp(above->name, "lambda$", 7) == 0)
		return RANK_BODY;
	return is_boxing(above) ? RANK_BOXING : RANK_CALLED;
}

/* Take the frame ABOVE one of lambda L, FRAME, seen SAMPLES times. */
static void take(struct search *s, struct lambda *l, uint32_t frame, uint32_t above, uint64_t samples)
{
	enum rank rank = rank_of(&s->profile->frames[frame], &s->profile->frames[above]);
	uint32_t *sum = rank == RANK_NONE || rank < l->rank ? NULL :
			map_put(&s->above, (uint64_t)(l - s->lambdas) << 32 | above, NULL);

	if (!sum)
		return;
	*sum += (uint32_t)MIN(samples, (uint64_t)(UINT32_MAX - *sum));
	if (rank > l->rank || *sum > l->samples) {
		l->rank = rank;
		l->frame = above;
		l->samples = *sum;
	}
}

static void look(struct search *s)
{
	const struct profile *p = s->profile;
	uint32_t i, k, lambda;

	for (i = 0; i < p->stack_count; i++)
		for (k = 0; k + 1 < p->stacks[i].depth; k++) {
			lambda = s->of_frame[p->stacks[i].frames[k]];
			if (lambda)
				take(s, &s->lambdas[lambda - 1], p->stacks[i].frames[k], p->stacks[i].frames[k + 1],
				     MAX(p->stacks[i].samples, 1u));
		}
}

/* "→ keepJournal" of the body of a lambda, "→ Order.total" of a method that is called by its name. */
static uint32_t target_text(struct lasting_names *l, const struct profile_frame *lambda,
			    const struct profile_frame *target)
{
	size_t host = host_length(lambda->class_name), room = 16 + strlen(target->name), n;
	const char *begin = target->name, *class_name = "", *slash;
	char *text;
	uint32_t number;

	n = strncmp(target->class_name, lambda->class_name, host) == 0 && !target->class_name[host] ?
		    body_of(target->name, &begin) : 0;
	if (!n) {
		begin = target->name;
		n = strlen(begin);
		slash = strrchr(target->class_name, '/');
		class_name = slash ? slash + 1 : target->class_name;
		if (strncmp(target->class_name, lambda->class_name, host) == 0 && !target->class_name[host])
			class_name = "";
	}
	room += strlen(class_name);
	text = malloc(room);
	if (!text)
		return 0;
	strcpy(text, LAMBDA_ARROW);
	if (*class_name) {
		lasting_class_name(class_name, text + strlen(text));
		strcat(text, ".");
	}
	strncat(text, begin, n);
	number = strings_add(&l->texts, text, strlen(text));
	free(text);
	return number;
}

/* ---- a profile ---- */

/* Note the frames of lambdas, and give all classes their lasting names. NUMBERS: those of the frames' texts. */
static int name_classes(struct lasting_names *l, struct search *s, uint32_t *numbers)
{
	const struct profile *p = s->profile;
	uint32_t i, own, *slot, count = 0;
	char *text;

	for (i = 0; i < p->frame_count; i++) {
		const struct profile_frame *f = &p->frames[i];
		/* the class of an object is the whole name of its frame */
		const char *name = f->class_name ? f->class_name : f->kind == FRAME_OTHER ? f->name : NULL;

		text = name ? malloc(strlen(name) + 1) : NULL;
		if (name && !text)
			return -ENOMEM;
		if (!text)
			continue;
		if (!lasting_class_name(name, text)) {
			free(text);
			continue;
		}
		numbers[i] = strings_add(&l->texts, text, strlen(text));
		if (f->class_name && is_lambda(f, text)) {
			own = strings_add(&s->classes, name, strlen(name));
			slot = map_put(&s->places, own, NULL);
			if (slot && !*slot)
				*slot = ++count;
			s->of_frame[i] = slot ? *slot : 0;
		}
		free(text);
	}
	s->lambdas = calloc((size_t)count + 1, sizeof(*s->lambdas));
	return s->lambdas && !l->texts.failed && !s->classes.failed ? 0 : -ENOMEM;
}

/* The texts do not move any more. */
static void put_texts(struct lasting_names *l, const struct search *s, const uint32_t *numbers,
		      const uint32_t *targets)
{
	uint32_t i;

	for (i = 0; i < s->profile->frame_count; i++) {
		struct profile_frame *f = &l->frames[i];
		const char *text = numbers[i] ? strings_get(&l->texts, numbers[i]) : NULL;

		if (text && f->class_name)
			f->class_name = text;
		else if (text)
			f->name = text;
		if (s->of_frame[i] && targets[s->of_frame[i] - 1]) {
			f->name = strings_get(&l->texts, targets[s->of_frame[i] - 1]);
			f->signature = NULL;
		}
	}
}

static int build(struct lasting_names *l, struct search *s)
{
	const struct profile *p = s->profile;
	uint32_t *numbers = calloc((size_t)p->frame_count + 1, sizeof(*numbers));
	uint32_t *targets = calloc((size_t)p->frame_count + 1, sizeof(*targets)), i;
	int rc = numbers && targets ? name_classes(l, s, numbers) : -ENOMEM;

	if (rc == 0) {
		look(s);
		for (i = 0; i < p->frame_count; i++) {
			const struct lambda *of = s->of_frame[i] ? &s->lambdas[s->of_frame[i] - 1] : NULL;

			if (of && of->rank && !targets[s->of_frame[i] - 1])
				targets[s->of_frame[i] - 1] = target_text(l, &p->frames[i], &p->frames[of->frame]);
		}
		rc = l->texts.failed ? -ENOMEM : 0;
	}
	if (rc == 0)
		put_texts(l, s, numbers, targets);
	free(numbers);
	free(targets);
	return rc;
}

int lasting_names_build(struct lasting_names *l, const struct profile *p)
{
	struct search s = {.profile = p};
	int rc = -ENOMEM;

	memset(l, 0, sizeof(*l));
	l->profile = *p;
	l->frames = calloc((size_t)p->frame_count + 1, sizeof(*l->frames));
	s.of_frame = calloc((size_t)p->frame_count + 1, sizeof(*s.of_frame));
	if (l->frames && s.of_frame) {
		if (p->frame_count)
			memcpy(l->frames, p->frames, p->frame_count * sizeof(*l->frames));
		rc = build(l, &s);
		l->profile.frames = l->frames;
	}
	free(s.of_frame);
	map_free(&s.above);
	free(s.lambdas);
	map_free(&s.places);
	strings_free(&s.classes);
	return rc;
}

void lasting_names_free(struct lasting_names *l)
{
	free(l->frames);
	strings_free(&l->texts);
	memset(l, 0, sizeof(*l));
}
