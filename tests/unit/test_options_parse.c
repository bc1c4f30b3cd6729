/* Both grammars of the options, their errors, and the way back into an agent's string. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/options/option_table.h"
#include "common/options/options.h"
#include "profile/writers/format.h"

static struct options o;
static struct error err;

static int agent(const char *text)
{
	options_init(&o);
	memset(&err, 0, sizeof(err));
	return options_parse_agent(&o, text, ',', &err);
}

/* As the command sends it. */
static int lines(const char *text)
{
	options_init(&o);
	memset(&err, 0, sizeof(err));
	return options_parse_agent(&o, text, '\n', &err);
}

#define WORDS 16
static char *argv_of[WORDS];
static int words, program;

/* Arguments apart by single blanks. */
static int command(const char *text)
{
	static char copy[512];
	int argc = 0;
	char *word, *rest;

	strcpy(copy, text);
	for (word = strtok_r(copy, " ", &rest); word && argc < WORDS; word = strtok_r(NULL, " ", &rest))
		argv_of[argc++] = word;
	options_init(&o);
	memset(&err, 0, sizeof(err));
	return options_parse_command(&o, argc, argv_of, &words, &program, &err);
}

static void defaults(void **state)
{
	assert_int_equal(agent(""), 0);
	assert_int_equal(o.action, ACTION_NONE);
	assert_string_equal(o.event, "cpu");
	assert_int_equal(o.interval, 0);
	assert_int_equal(o.depth, 2048);
	assert_int_equal(o.attach_timeout, 10 * NS_PER_S);
	assert_string_equal(o.format, "");
	assert_false(o.threads || o.total || o.lines || o.owner || o.strict);
}

static void agent_string(void **state)
{
	assert_int_equal(agent("start,event=itimer,interval=1ms,file=/tmp/x y.html,threads,total,"
			       "jstackdepth=64,lines,title=a b=c,features=stats,queuesize=1,strict"), 0);
	assert_int_equal(o.action, ACTION_START);
	assert_string_equal(o.event, "itimer");
	assert_int_equal(o.interval, NS_PER_MS);
	assert_string_equal(o.file, "/tmp/x y.html");
	assert_true(o.threads && o.total && o.lines && o.stats && o.strict);
	assert_int_equal(o.depth, 64);
	assert_int_equal(o.queue_start, 1);
	assert_string_equal(o.title, "a b=c");
}

static void agent_actions(void **state)
{
	static const struct {
		const char *text;
		enum options_action action;
	} rows[] = {
		{"start", ACTION_START}, {"resume", ACTION_RESUME}, {"stop", ACTION_STOP},
		{"dump", ACTION_DUMP}, {"status", ACTION_STATUS}, {"list", ACTION_LIST},
		{"version", ACTION_VERSION}, {"file=x", ACTION_NONE},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(agent(rows[i].text), 0);
		assert_int_equal(o.action, rows[i].action);
	}
}

static void formats_as_bare_words(void **state)
{
	static const struct {
		const char *text, *format;
		unsigned flat, traces;
	} rows[] = {
		{"collapsed", "collapsed", 0, 0}, {"folded", "collapsed", 0, 0},
		{"flamegraph", "flamegraph", 0, 0}, {"html", "flamegraph", 0, 0},
		{"json", "json", 0, 0}, {"text", "text", 0, 0}, {"calltree", "calltree", 0, 0},
		{"flat", "flat", 0, 0}, {"flat=7", "flat", 7, 0}, {"traces=3", "traces", 0, 3},
		{"traces=3,flat=4", "text", 4, 3}, {"flat,traces", "text", 0, 0},
		{"output=collapsed", "collapsed", 0, 0}, {"output=flat=9", "flat", 9, 0},
		{"hot", "hot", 0, 0},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(agent(rows[i].text), 0);
		assert_string_equal(o.format, rows[i].format);
		assert_int_equal(o.flat, rows[i].flat);
		assert_int_equal(o.traces, rows[i].traces);
		assert_non_null(format_by_name(o.format));
	}
}

/* Every format word of the table is a format that exists, and every format has a word. */
static void formats_and_words_agree(void **state)
{
	const struct option *p;
	const struct format *f;

	for (p = option_table; p->kind; p++)
		if (p->kind == OPTION_FORMAT_WORD)
			assert_non_null(format_by_name(p->word));
	for (f = formats; f->name; f++)
		if (strcmp(f->name, "loss") != 0)
			assert_int_equal(agent(f->name), 0);
}

static void times(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} rows[] = {
		{"interval=100000", 100000}, {"interval=100us", 100000}, {"interval=100u", 100000},
		{"interval=10m", 10000000}, {"interval=10ms", 10000000}, {"interval=1s", NS_PER_S},
		{"interval=0.5ms", 500000}, {"interval=60000ns", 60000}, {"interval=60000n", 60000},
		{"interval=50us", 50000}, {"interval=100s", 100 * NS_PER_S}, {"interval=.5s", 500000000},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(agent(rows[i].text), 0);
		assert_int_equal(o.interval, rows[i].ns);
	}
}

static void senseless_intervals(void **state)
{
	static const char *const rows[] = {
		"interval=0", "interval=-1ms", "interval=49", "interval=101s",
		"interval=99999999999999999999", "interval=18446744073709551616", "interval=1000000000h",
	};
	static const char *const no_times[] = {
		"interval=", "interval=x", "interval=1x", "interval=1.ms", "interval=.", "interval=-",
		"interval=1 ms", "interval=1e3", "interval=0x10", "interval",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(agent(rows[i]), -EINVAL);
		assert_non_null(strstr(err.text, "interval"));
		assert_non_null(strstr(err.text, i < 6 ? "50us to 100s" : "not a time"));
		assert_int_equal(o.interval, 0);
	}
	for (i = 0; i < ARRAY_LEN(no_times); i++) {
		assert_int_equal(agent(no_times[i]), -EINVAL);
		assert_non_null(strstr(err.text, "interval"));
	}
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} rows[] = {
		{"-d 5", 5 * NS_PER_S}, {"-d 0.2", 200 * NS_PER_MS}, {"-d 500ms", 500 * NS_PER_MS},
		{"-d 2m", 120 * NS_PER_S}, {"-d 1h", 3600 * NS_PER_S}, {"-d 1.5m", 90 * NS_PER_S},
		{"-d .25", 250 * NS_PER_MS}, {"--duration=3", 3 * NS_PER_S}, {"-d3", 3 * NS_PER_S},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(command(rows[i].text), 0);
		assert_int_equal(o.duration, rows[i].ns);
	}
	assert_int_equal(command("-d 0"), -EINVAL);
	assert_int_equal(command("-d -1"), -EINVAL);
	assert_int_equal(command("-d"), -EINVAL);
	assert_non_null(strstr(err.text, "needs a value"));
}

static void events(void **state)
{
	static const struct {
		const char *text, *events;
	} agents[] = {
		{"event=cpu,page-faults,threads", "cpu,page-faults"},
		{"event=page-faults,cpu,ctimer", "page-faults,cpu,ctimer"},
		{"event=cpu,sched:sched_switch:prev_prio==120,lines", "cpu,sched:sched_switch:prev_prio==120"},
		{"event=cycles@2m,r1a8", "cycles@2m,r1a8"},
		{"event=cpu/event=0x3c:umask=1/", "cpu/event=0x3c:umask=1/"},
		{"cpu", "cpu"}, {"event=malloc", "malloc"}, {"event=JavaThread::run", "JavaThread::run"},
	}, commands[] = {
		{"-e cpu,page-faults 1", "cpu,page-faults"},
		{"-e cpu,threads,interval=1ms 1", "cpu"},
		{"-e cpu/event=0x3c,umask=1/,cpu 1", "cpu/event=0x3c:umask=1/,cpu"},
		{"-e mem:x+8/8:rw,uprobe:/lib/libc.so.6+0x10 1", "mem:x+8/8:rw,uprobe:/lib/libc.so.6+0x10"},
		{"--event ctimer 1", "ctimer"}, {"--cpu 1", "cpu"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(agents); i++) {
		assert_int_equal(agent(agents[i].text), 0);
		assert_string_equal(o.event, agents[i].events);
	}
	assert_int_equal(agent("event=cpu,page-faults,threads"), 0);
	assert_true(o.threads);
	for (i = 0; i < ARRAY_LEN(commands); i++) {
		assert_int_equal(command(commands[i].text), 0);
		assert_string_equal(o.event, commands[i].events);
	}
	/* an interval is a time for CPU time, a number for others, whatever comes first */
	assert_int_equal(command("-i 1 -e page-faults 1"), 0);
	assert_int_equal(o.interval, 1);
	assert_int_equal(command("-i 2k -e cycles,cpu 1"), 0);
	assert_int_equal(o.interval, 2048);
	assert_int_equal(command("-e cpu,page-faults -i 10 1"), -EINVAL);
	assert_non_null(strstr(err.text, "out of range for cpu"));
	assert_int_equal(agent("event=,cpu"), -EINVAL);
	assert_int_equal(agent("event=cyclse"), -EINVAL);
	assert_non_null(strstr(err.text, "did you mean cycles?"));
	assert_int_equal(agent("page-faults"), -EINVAL);
	assert_string_equal(err.text, "unknown option: page-faults; an event is event=page-faults");
}

/* One of several events, named once more, is the one to show. */
static void events_shown(void **state)
{
	assert_int_equal(command("-e cpu,page-faults --event page-faults 1"), 0);
	assert_string_equal(o.event, "cpu,page-faults");
	assert_string_equal(o.show, "page-faults");
	assert_int_equal(command("-e cpu,cycles@5 --show cycles 1"), 0);
	assert_string_equal(o.show, "cycles");
	assert_int_equal(agent("event=cpu,cycles"), 0);
	assert_int_equal(options_parse_agent(&o, "stop\nevent=cycles", '\n', &err), 0);
	assert_string_equal(o.event, "cpu,cycles");
	assert_string_equal(o.show, "cycles");
	assert_int_equal(options_parse_agent(&o, "stop\nevent=ctimer", '\n', &err), 0);
	assert_string_equal(o.event, "ctimer");
}

/* The option wall adds an event to those asked for, whatever the order, and is the only one beside none. */
static void wall_beside_others(void **state)
{
	assert_int_equal(agent("wall=5ms"), 0);
	assert_string_equal(o.event, "wall");
	assert_int_equal(o.wall, 5000000);
	assert_int_equal(agent("start,event=cpu,wall"), 0);
	assert_string_equal(o.event, "cpu,wall");
	assert_int_equal(o.wall, 1);
	assert_int_equal(agent("wall=20ms,event=ctimer,page-faults,interval=1ms"), 0);
	assert_string_equal(o.event, "ctimer,page-faults,wall");
	assert_int_equal(o.interval, 1000000);
	assert_int_equal(command("-e cpu,wall -i 1ms --wall 20ms 1"), 0);
	assert_string_equal(o.event, "cpu,wall");
	assert_int_equal(o.wall, 20000000);
	assert_int_equal(command("-e cpu --wall=20ms 1"), 0);
	assert_string_equal(o.event, "cpu,wall");
	assert_int_equal(command("--wall 1234"), 0); /* a pid */
	assert_int_equal(o.wall, 1);
	assert_int_equal(command("--wall 2000000 -d 1 1234"), 0);
	assert_int_equal(o.wall, 2000000);
	assert_int_equal(agent("wall=1us"), -EINVAL);
	assert_int_equal(agent("wall=x"), -EINVAL);
}

static void lock_beside_others(void **state)
{
	assert_int_equal(agent("lock"), 0);
	assert_string_equal(o.event, "lock");
	assert_int_equal(o.lock, 1); /* its default */
	assert_int_equal(agent("event=cpu,lock=1ms,wall"), 0);
	assert_string_equal(o.event, "cpu,wall,lock");
	assert_int_equal(o.lock, NS_PER_MS);
	assert_int_equal(agent("lock=0"), 0);
	assert_true(o.lock == OPTIONS_ALL); /* said, and no time of its own */
	assert_int_equal(agent("lock=0s"), 0);
	assert_true(o.lock == OPTIONS_ALL);
	assert_int_equal(agent("lock=1"), 0);
	assert_int_equal(o.lock, 2); /* 1 ns is as good as 2, and 1 is the default */
	assert_int_equal(agent("event=lock,interval=1us"), 0);
	assert_int_equal(o.interval, NS_PER_US);
	assert_int_equal(agent("lock=200s"), -EINVAL);
}

static void known_but_not_yet(void **state)
{
	assert_int_equal(command("--proc 1"), -EINVAL);
	assert_string_equal(err.text, "not available yet: --proc");
	assert_int_equal(command("--nofree 1"), -EINVAL);
	assert_string_equal(err.text, "not available yet: --nofree");
	assert_int_equal(command("-e cpu --nativelock 1ms --nativewait 1"), 0);
	assert_string_equal(o.event, "cpu,nativelock");
	assert_true(o.nativelock == NS_PER_MS && o.nativewait);
	assert_int_equal(command("-e cpu,alloc@64k 1"), 0);
	assert_string_equal(o.event, "cpu,alloc@64k");
	assert_int_equal(command("--alloc 1"), 0);
	assert_true(strcmp(o.event, "alloc") == 0 && options_event_interval(&o, "alloc") == 1);
	assert_int_equal(command("-e cpu --alloc 64k 1"), 0);
	assert_true(strcmp(o.event, "cpu,alloc") == 0 && options_event_interval(&o, "alloc") == 64 << 10);
	assert_int_equal(command("--alloc=0 1"), 0);
	assert_true(options_event_interval(&o, "alloc") == OPTIONS_ALL);
	assert_true(agent("event=alloc,interval=1m") == 0 && o.interval == 1 << 20);
	assert_true(agent("event=live,interval=512kb") == 0 && o.interval == 512 << 10);
	assert_true(agent("event=cpu,alloc,interval=1m") == 0 && o.interval == 1000000);
	assert_true(agent("event=alloc,interval=1000") == 0 && o.interval == 1000);
	assert_int_equal(agent("event=nativemem,interval=10ms"), -EINVAL);
	assert_int_equal(agent("event=alloc,sampling_period_ms=10"), -EINVAL);
	assert_int_equal(agent("event=cpu,interval=1mb"), -EINVAL);
	assert_int_equal(agent("alloc=1m"), 0);
	assert_true(strcmp(o.event, "alloc") == 0 && options_event_interval(&o, "alloc") == 1 << 20);
	assert_int_equal(agent("alloc=2g"), -EINVAL);
	assert_non_null(strstr(err.text, "out of range"));
	assert_int_equal(command("-o server 1"), -EINVAL);
	assert_string_equal(err.text, "unknown output format: server; 'jstrobe help formats' lists them");
}

static void unknown(void **state)
{
	assert_int_equal(lines("start\nintervall=5"), -EINVAL);
	assert_string_equal(err.text, "unknown option: intervall (did you mean interval?)");
	assert_int_equal(lines("strat"), -EINVAL);
	assert_string_equal(err.text, "unknown option: strat (did you mean start?)");
	assert_int_equal(lines("xyzzyplugh"), -EINVAL);
	assert_non_null(strstr(err.text, "unknown option: xyzzyplugh"));
	assert_null(strstr(err.text, "did you mean"));
	assert_int_equal(command("--duraton 5"), -EINVAL);
	assert_string_equal(err.text, "unknown option: --duraton (did you mean --duration?)");
	assert_int_equal(command("-z"), -EINVAL);
	assert_non_null(strstr(err.text, "unknown option: -z"));
	assert_int_equal(agent("event=cpi"), -EINVAL);
	assert_string_equal(err.text, "unknown event: cpi (did you mean cpu?)");
	assert_int_equal(command("-o colapsed"), -EINVAL);
	assert_string_equal(err.text, "unknown output format: colapsed (did you mean collapsed?)");
	assert_int_equal(agent("=5"), -EINVAL);
	assert_int_equal(agent("threads=7"), -EINVAL);
}

/* Strings of other programs: words of other versions, in their own spelling, are no reason not to profile. */
static void left_out(void **state)
{
	char text[4096] = "start";
	size_t i;

	assert_int_equal(agent("START,Event=wall,intervalX=3,logLevel=debug,jstackDepth=7,"), 0);
	assert_true(o.action == ACTION_START && strcmp(o.event, "wall") == 0 && o.depth == 7);
	assert_string_equal(o.notes, "unknown option: intervalX (did you mean interval?); it is left out\n");
	assert_int_equal(agent("start,framebuf=10,buffer=3,allkernel,width=7,tlab"), 0);
	assert_string_equal(o.notes, "");
	assert_int_equal(agent("start,proc=30,ratelimit=cpu:7,features=stats+vtable+x"), 0);
	assert_true(o.stats);
	assert_int_equal(o.cpu_rate, 7);
	assert_string_equal(o.notes, "not available yet: proc; it is left out\n"
			    "not available yet: features=vtable; it is left out\n"
			    "unknown: features=x; it is left out\n");
	assert_int_equal(agent("start,ratelimit=cpu:1000;alloc:200;lock:5"), 0);
	assert_true(o.cpu_rate == 1000 && o.rate == 200 && strstr(o.notes, "samples of lock are limited by"));
	assert_int_equal(command("--ratelimit cpu:1000 1"), 0);
	assert_int_equal(o.cpu_rate, 1000);
	assert_int_equal(command("--ratelimit lock:5 1"), -EINVAL);
	assert_int_equal(agent("start,ratelimit=cpu"), -EINVAL);
	assert_int_equal(agent("start,ratelimit=cpu:0"), -EINVAL);
	assert_int_equal(agent("start,ratelimit=cpu:5x"), -EINVAL);
	assert_int_equal(agent("start,interval=1us"), 0);
	assert_true(o.interval == 50 * NS_PER_US);
	assert_string_equal(o.notes, "interval: 1us is too short for cpu; it is 50us, the shortest there is\n");
	assert_int_equal(agent("start,interval=1000"), 0);
	assert_true(o.interval == 50 * NS_PER_US && strstr(o.notes, "1us is too short for cpu; it is 50us"));
	assert_int_equal(command("-i 999 1"), -EINVAL);
	assert_int_equal(command("-i 49us 1"), 0);
	assert_true(o.interval == 50 * NS_PER_US && strstr(o.notes, "it is 50us"));
	assert_int_equal(agent("start,event=alloc,alloc=64k,interval=10ms"), 0);
	assert_true(o.interval == 0 && strstr(o.notes, "alloc has its own"));
	assert_int_equal(agent("start,xyzzy,strict"), -EINVAL);
	assert_string_equal(err.text, "unknown option: xyzzy; it is left out (strict)");
	assert_int_equal(agent("start"), 0);
	assert_string_equal(o.notes, "");
	for (i = 0; i < 400; i++)
		strcat(text, ",xyzzy");
	assert_int_equal(agent(text), 0);
	assert_true(strlen(o.notes) < sizeof(o.notes) && o.notes[strlen(o.notes) - 1] == '\n');
}

static void spelling_and_filters(void **state)
{
	assert_int_equal(agent("simple,dot,norm,sig,ann,lib,reverse,inverted,total,minwidth=0.5"), 0);
	assert_true(o.simple && o.dot && o.norm && o.sig && o.ann && o.lib);
	assert_true(o.reverse && o.inverted && o.total && !o.samples);
	assert_int_equal(o.minwidth, 500);
	assert_int_equal(command("-s -g -n -a -l -I a* -X *b -I c --include d --exclude=e 1"), 0);
	assert_true(o.simple && o.norm && o.sig && o.ann && o.lib && !o.dot);
	assert_string_equal(o.include, "a*\nc\nd");
	assert_string_equal(o.exclude, "*b\ne");
	assert_int_equal(command("-sgnal 1"), 0);
	assert_true(o.simple && o.norm && o.sig && o.ann && o.lib);
	/* the last one counts */
	assert_int_equal(agent("total,samples"), 0);
	assert_true(o.samples && !o.total);
	assert_int_equal(agent("samples,total"), 0);
	assert_true(o.total && !o.samples);
	/* what was said at an earlier occasion goes as soon as something new is said */
	/* a * inside would be a letter, which only names of C++ have; in convert it may be an expression of jfrconv's */
	assert_int_equal(command("-X Shop*.borrow 1"), -EINVAL);
	assert_non_null(strstr(err.text, "-X: 'Shop*.borrow' has a * inside"));
	assert_int_equal(agent("include=a*b"), -EINVAL);
	assert_int_equal(command("-I * -I ** -I *a.b* -X operator* -X *operator*= -X f(char*,int)"), 0);
	assert_int_equal(agent("include=a,exclude=b"), 0);
	o.patterns_old = true;
	assert_int_equal(options_parse_agent(&o, "simple", ',', &err), 0);
	assert_string_equal(o.include, "a");
	assert_int_equal(options_parse_agent(&o, "include=c,include=d", ',', &err), 0);
	assert_string_equal(o.include, "c\nd");
	assert_string_equal(o.exclude, "");
	assert_int_equal(agent("include="), -EINVAL);
	assert_int_equal(agent("include"), -EINVAL);
}

static void percents(void **state)
{
	static const struct {
		const char *text;
		uint32_t thousandths;
	} rows[] = {
		{"0", 0}, {"1", 1000}, {"0.25", 250}, {".5", 500}, {"100", 100000}, {"99.9999", 99999},
	};
	static const char *const wrong[] = {"", "x", "1x", "-1", "101", "100.001", "1.", "0,5", "1e1"};
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(text, sizeof(text), "minwidth=%s", rows[i].text);
		assert_int_equal(agent(text), 0);
		assert_int_equal(o.minwidth, rows[i].thousandths);
	}
	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		snprintf(text, sizeof(text), "--minwidth=%s", wrong[i]);
		assert_int_equal(command(text), -EINVAL);
		assert_non_null(strstr(err.text, "minwidth"));
	}
}

static void sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{"1048576", 1 << 20}, {"1m", 1 << 20}, {"1.5M", 3 << 19}, {"2048k", 2 << 20}, {"1g", 1 << 30},
		{"64mb", 64 << 20}, {"16g", 1ull << 34},
	};
	static const char *const wrong[] = {"", "x", "1x", "-1m", "1k", "17g", "1s", "99999999999999999999"};
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(text, sizeof(text), "memlimit=%s", rows[i].text);
		assert_int_equal(agent(text), 0);
		assert_int_equal(o.memlimit, rows[i].bytes);
	}
	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		snprintf(text, sizeof(text), "--memlimit=%s", wrong[i]);
		assert_int_equal(command(text), -EINVAL);
		assert_non_null(strstr(err.text, "memlimit"));
	}
}

static void depths(void **state)
{
	static const char *const wrong[] = {"0", "x", "5/", "5/x", "5/0", "5/6", "/5", "5000", "-1", "5/-1"};
	char text[64];
	size_t i;

	assert_int_equal(agent("jstackdepth=100"), 0);
	assert_int_equal(o.depth, 100);
	assert_int_equal(o.depth_kept, 0);
	assert_int_equal(command("-j 500/20 1"), 0);
	assert_int_equal(o.depth, 500);
	assert_int_equal(o.depth_kept, 20);
	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		snprintf(text, sizeof(text), "jstackdepth=%s", wrong[i]);
		assert_int_equal(agent(text), -EINVAL);
		assert_non_null(strstr(err.text, "jstackdepth"));
	}
}

static void native_stacks(void **state)
{
	static const char *const modes[] = {"no", "vm", "vmx", "fp", "dwarf"};
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_LEN(modes); i++) {
		snprintf(text, sizeof(text), "cstack=%s", modes[i]);
		assert_int_equal(agent(text), 0);
		assert_string_equal(o.cstack, modes[i]);
	}
	assert_int_equal(agent("cstack=lbr"), 0);
	assert_string_equal(o.cstack, "vm");
	assert_string_equal(o.notes, "cstack: unknown mode lbr; it is vm\n");
	assert_int_equal(command("--cstack lbr 1"), -EINVAL);
	assert_string_equal(err.text, "--cstack: unknown mode lbr; use no, vm, vmx, fp or dwarf");
}

#define NOON (12 * 3600 * NS_PER_S) /* of 1 January 1970 */
#define SECOND NS_PER_S
#define AT(hh, mm, ss) (((hh) * 3600 + (mm) * 60 + (ss)) * NS_PER_S)

static void moments(void **state)
{
	static const struct {
		const char *text;
		uint64_t at;
		bool by_clock;
	} rows[] = {
		{"90", 5 * SECOND + 90 * SECOND, false}, {"10m", 5 * SECOND + 600 * SECOND, false},
		{"1h", 5 * SECOND + 3600 * SECOND, false}, {"2d", 5 * SECOND + 2 * 86400 * SECOND, false},
		{"300ms", 5 * SECOND + 300 * NS_PER_MS, false}, {"0", 0, false},
		{"12:30:15", AT(12, 30, 15), true}, {"12:30", AT(12, 30, 7), true},
		{"11:00:00", AT(24 + 11, 0, 0), true}, {"12:00:07", AT(24 + 12, 0, 7), true},
		{"9:5:1", AT(24 + 9, 5, 1), true}, {"*:15:00", AT(12, 15, 0), true},
		{"*:00:00", AT(13, 0, 0), true}, {"*:*:30", AT(12, 0, 30), true}, {"*:*:00", AT(12, 1, 0), true},
	};
	static const char *const wrong[] = {
		"", "x", "-1", "12:60", "24:00", "12:30:60", "12:", ":30", "12:30:", "12:30:15:1", "*:*", "*:*:*",
		"123:00", "12:3x", "367d", "1y",
	};
	struct options_moment m;
	char text[64];
	size_t i;

	setenv("TZ", "UTC", 1);
	tzset();
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(options_moment(rows[i].text, NOON + 7 * SECOND + 5, 5 * SECOND, &m), 0);
		assert_int_equal(m.at, rows[i].at);
		assert_int_equal(m.by_clock, rows[i].by_clock);
		snprintf(text, sizeof(text), "--timeout=%s", rows[i].text);
		assert_int_equal(command(text), 0);
		assert_string_equal(o.timeout, rows[i].at ? rows[i].text : "");
	}
	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		snprintf(text, sizeof(text), "loop=%s", wrong[i]);
		assert_int_equal(agent(text), -EINVAL);
		assert_non_null(strstr(err.text, "Invalid loop duration"));
		snprintf(text, sizeof(text), "timeout=%s", wrong[i]);
		assert_int_equal(agent(text), -EINVAL);
		assert_non_null(strstr(err.text, "Invalid timeout"));
	}
}

/* What has an effect with another event only is refused, with what to do. */
static void refused_beside(void **state)
{
	static const struct {
		const char *text, *word; /* NULL: taken */
	} rows[] = {
		{"start,event=cpu,time=wall", "periodic"}, {"start,event=wall,time=cpu", "periodic"},
		{"start,event=periodic,time=wall", NULL}, {"start,event=cpu,sleep", "--lock"},
		{"start,owners", "--lock"},
		 {"start,lock,owners,sleep,nopark", NULL}, {"start,event=cpu,lock@1ms,sleep", NULL},
		{"start,latency=5ms", "--instrument"}, {"start,timing=exact", "--instrument"},
		{"start,instrument=a.B,latency=5ms,timing=exact,root=a.C,depth=3", NULL},
		{"start,instrument=a.B,sleep", "--lock"},
		 {"start,vthreads", "--wall"}, {"start,wall,vthreads,nobatch", NULL},
		{"start,gc", "event=live"}, {"start,alloc,gc", "event=live"}, {"start,event=live,gc", NULL},
		{"start,alloc,live=64k,gc", NULL}, {"start,nativemem-live", "--nativemem"},
		{"start,nativemem=64k,nativemem-live", NULL}, {"start,event=cpu,nativemem@64k,nativemem-live", NULL},
		{"start,event=cpu,nativemem-peak", "--nativemem"}, {"start,nativemem=0,nativemem-peak", NULL},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(agent(rows[i].text), 0);
		if (options_check_beside(&o, &err) != (rows[i].word ? -EINVAL : 0))
			fail_msg("%s", rows[i].text);
		assert_true(!rows[i].word || strstr(err.text, rows[i].word));
	}
	assert_int_equal(command("--sampling-period-ms 5 -i 1ms 1"), -EINVAL);
	assert_non_null(strstr(err.text, "twice"));
	assert_int_equal(command("-i 1ms --sampling-period-ms 5 1"), -EINVAL);
	assert_int_equal(command("-i 5ms --sampling-period-ms 5 1"), 0);
	assert_int_equal(command("-i 1ms -i 5ms 1"), 0);
}

/* 10:00 of tomorrow, where the clock is changed in the night between. */
static void summer_time(void **state)
{
	static const struct {
		uint64_t now, at; /* s since 1970 */
	} rows[] = {
		{1774695600, 1774771200}, /* 2026-03-28 12:00, 21 hours before */
		{1792836000, 1792918800}, /* 2026-10-24 12:00, 23 hours before */
	};
	struct options_moment m;
	size_t i;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(options_moment("10:00:00", rows[i].now * SECOND, 0, &m), 0);
		assert_int_equal(m.at, rows[i].at * SECOND);
	}
	setenv("TZ", "UTC", 1);
	tzset();
}

static void places(void **state)
{
	assert_int_equal(agent("start"), 0);
	assert_int_equal(o.target_cpu, OPTIONS_ANY_CPU);
	assert_int_equal(agent("sched,alluser,record-cpu,target-cpu=0"), 0);
	assert_true(o.sched && o.alluser && o.record_cpu && o.target_cpu == 0);
	assert_int_equal(command("--sched --all-user --record-cpu --target-cpu 3 1"), 0);
	assert_true(o.sched && o.alluser && o.record_cpu && o.target_cpu == 3);
	assert_int_equal(agent("target-cpu=x"), -EINVAL);
}

static void thread_lists(void **state)
{
	static const char *const wrong[] = {"x", "1,", ",1", "1-", "-1", "2-1", "0", "1--2", "1,,2",
					    "99999999999999999999", "1;x"};
	static const char *const none[] = {"filter", "filter=", "start,filter=-"};
	char text[64];
	size_t i;

	assert_int_equal(command("--filter 120-127,132 1"), 0);
	assert_string_equal(o.filter, "120-127;132");
	assert_int_equal(agent("start,filter=7;9-10"), 0);
	assert_string_equal(o.filter, "7;9-10");
	assert_true(options_thread_listed(o.filter, 7) && options_thread_listed(o.filter, 9) &&
		    options_thread_listed(o.filter, 10));
	assert_true(options_thread_listed("7,name:http-*;9", 9) && options_thread_listed("name:a", UINT32_MAX));
	assert_false(options_thread_listed("name:http-8", 8) || options_thread_listed("7,name:", UINT32_MAX) ||
		     options_thread_listed("group:,7", 7) || options_thread_listed("nome:a", UINT32_MAX));
	assert_false(options_thread_listed(o.filter, 8) || options_thread_listed(o.filter, 11) ||
		     options_thread_listed(o.filter, 1));
	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		snprintf(text, sizeof(text), "--filter=%s", wrong[i]);
		assert_int_equal(command(text), -EINVAL);
		assert_non_null(strstr(err.text, "no list of threads"));
	}
	/* none but those that the program adds itself; from the command to the agent, too */
	for (i = 0; i < ARRAY_LEN(none); i++) {
		assert_int_equal(agent(none[i]), 0);
		assert_string_equal(o.filter, OPTIONS_NO_THREAD);
		assert_false(options_thread_listed(o.filter, 1));
	}
	assert_int_equal(command("--filter"), 0);
	assert_string_equal(o.filter, OPTIONS_NO_THREAD);
}

/* An error does not keep the rest from being read: it may say where errors are to go. */
static void all_is_read(void **state)
{
	assert_int_equal(agent("start,event=9nonsense,log=/tmp/x,nonsens,quiet"), -EINVAL);
	assert_string_equal(err.text, "unknown event: 9nonsense; `jstrobe list` shows the events there are");
	assert_string_equal(o.log, "/tmp/x");
	assert_true(o.quiet);
	assert_int_equal(agent("start,event=cpu/event=0x3c,umask=1/"), -EINVAL);
	assert_string_equal(err.text, "unknown event: cpu/event=0x3c; an event of a source is written SOURCE/WHAT/, "
			    "with a slash at its end");
}

/* What async-profiler calls a mistake is called so here, too. */
static void known_words(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{"interval=0", "Invalid interval"}, {"interval=x", "Invalid interval"},
		{"jstackdepth=0", "jstackdepth must be > 0"}, {"event=", "event must not be empty"},
		{"event", "event must not be empty"}, {"file=", "file must not be empty"},
		{"loglevel=", "loglevel must not be empty"}, {"timeout=x", "Invalid timeout"},
		{"loop", "Invalid loop duration"}, {"signal=0", "signal must be > 0"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(agent(rows[i].text), -EINVAL);
		assert_int_equal(strncmp(err.text, rows[i].words, strlen(rows[i].words)), 0);
		assert_true(strlen(err.text) > strlen(rows[i].words) + 5);
	}
}

/* Options of async-profiler that have nothing to act on here must not stop anybody. */
static void without_effect(void **state)
{
	struct options plain;

	options_init(&plain);
	assert_int_equal(agent("clock=tsc,mcache,mcache=3"), 0);
	assert_memory_equal(&o, &plain, sizeof(o));
	assert_int_equal(command("--width 1200 --height 16 --clock monotonic 1"), 0);
	memset(o.given, 0, sizeof(o.given));
	assert_memory_equal(&o, &plain, sizeof(o));
}

static void command_line(void **state)
{
	assert_int_equal(command("record -e cpu -i 1ms -d 5 -f out.html -tq --total --lines -j 100 "
				 "--title=x 1234"), 0);
	assert_int_equal(words, 2);
	assert_string_equal(argv_of[0], "record");
	assert_string_equal(argv_of[1], "1234");
	assert_int_equal(o.interval, NS_PER_MS);
	assert_string_equal(o.file, "out.html");
	assert_true(o.threads && o.quiet && o.total && o.lines);
	assert_int_equal(o.depth, 100);
	assert_string_equal(o.title, "x");
}

/* The words after `jstrobe convert`: events of a file, and jfrconv's letters. */
static int convert(char **argv, int argc)
{
	options_init(&o);
	o.converting = true;
	return options_parse_command(&o, argc, argv, &words, &program, &err);
}

static void converting(void **state)
{
	char *families[] = {"--alloc", "--cpu-time", "-e", "jdk.FileRead,lock", "--wall", "in.jfr", "--trace", "out.html"};
	char *letters[] = {"-ri", "-s", "runnable,sleeping", "-t", "--from=1s", "--to", "-1s", "in.jfr"};

	assert_int_equal(convert(families, ARRAY_LEN(families)), 0);
	assert_string_equal(o.families, "alloc,cputime,jdk.FileRead,lock,wall,trace");
	assert_int_equal(words, 2);
	assert_int_equal(convert(letters, ARRAY_LEN(letters)), 0);
	assert_true(o.reverse && o.inverted && o.threads && !o.simple);
	assert_string_equal(o.states, "runnable,sleeping");
	assert_string_equal(o.from, "1s");
	assert_string_equal(o.to, "-1s");
	assert_int_equal(words, 1);
	/* elsewhere they are what they were */
	assert_int_equal(command("-s -i 5ms"), 0);
	assert_true(o.simple && o.interval == 5000000);
	assert_int_equal(command("--from 1s"), 0);
	assert_int_equal(options_check_taken(&o, "record", &err), -EINVAL);
	assert_string_equal(err.text, "record: --from is not an option of record; it belongs to convert, diff, explain");
	assert_int_equal(options_check_taken_at_door(&o, false, &err), -EINVAL);
	assert_non_null(strstr(err.text, "only 'jstrobe convert' and 'diff' know it"));
}

/* What was given, and nothing else, is asked for: behind commands by the table, at async-profiler's doors as there. */
static void taken(void **state)
{
	char *words_of_files[] = {"-i", "--alloc", "--width", "9", "-d", "10", "in.jfr"};
	const struct option *p;
	unsigned given = 0;

	assert_int_equal(command("stop -o flat,threads --show cpu -i 1ms -qt 1"), 0);
	for (p = option_table; p->kind; p++)
		given += option_is_given(&o, p);
	assert_int_equal(given, 5); /* output, threads, show, interval, quiet */
	assert_int_equal(options_check_taken(&o, "record", &err), 0);
	assert_int_equal(options_check_taken(&o, "stop", &err), -EINVAL);
	assert_string_equal(err.text, "stop: --interval is not an option of stop; it belongs to record, start, resume, "
			    "stream, top");
	assert_int_equal(options_check_taken_at_door(&o, false, &err), 0);
	assert_int_equal(convert(words_of_files, ARRAY_LEN(words_of_files)), 0);
	assert_int_equal(options_check_taken(&o, "convert", &err), -EINVAL);
	assert_non_null(strstr(err.text, "convert: --duration is not an option of convert; it belongs to record"));
	assert_int_equal(options_check_taken_at_door(&o, true, &err), -EINVAL);
	assert_int_equal(agent("start,interval=1ms"), 0);
	for (p = option_table; p->kind; p++)
		assert_false(option_is_given(&o, p));
}

static bool lists(const char *command, const char *option)
{
	struct buffer help = BUFFER_INIT;
	bool there;

	options_help_of(command, "", &help);
	buffer_putc(&help, '\0');
	there = strstr(help.data, option) != NULL;
	buffer_free(&help);
	return there;
}

static void help_of_commands(void **state)
{
	static const struct {
		const char *command, *yes[4], *no[4];
	} rows[] = {
		{"record", {"--interval N", "--file FILE", "--instrument P", "--quiet"},
		 {"--watch T", "--from T", "--once", "--java"}},
		{"trace", {"--latency T", "--duration T", "--live", "--file F"},
		 {"--interval N", "--lock", "--cpu ", "--filter"}},
		{"convert", {"-s, --state", "-i, --inverted", "-r, --reverse", "--from T"},
		 {"--interval", "--lock [", "-s, --simple", "--last"}},
		{"diff", {"--event EVENTS", "--minwidth", "--output F", "--total"},
		 {"--interval", "--threads", "--duration", "--libpath"}},
		{"stop", {"--file F", "--output F", "--attach-timeout", "--title"},
		 {"--interval", "--loop", "--from T", "--latency"}},
		{"memory", {"--watch T", "--json", "--nmt", "--attach-timeout"},
		 {"--interval", "--event", "--libpath", "--file F"}},
		{"status", {"--libpath", "--quiet", "--json", "--attach-timeout"},
		 {"--interval", "--event", "--total", "--file F"}},
	};
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		for (k = 0; k < 4; k++) {
			assert_true(lists(rows[i].command, rows[i].yes[k]));
			assert_false(lists(rows[i].command, rows[i].no[k]));
		}
}

static void program_after_dashes(void **state)
{
	assert_int_equal(command("record -d 5 -- java -d 7 --wall -x"), 0);
	assert_int_equal(words, 1);
	assert_int_equal(program, 4);
	assert_string_equal(argv_of[program], "java");
	assert_int_equal(o.duration, 5 * NS_PER_S);
	assert_int_equal(command("record 5"), 0);
	assert_int_equal(program, 2);
	assert_int_equal(command("-f - 5"), 0);
	assert_string_equal(o.file, "-");
	assert_int_equal(words, 1);
}

static void too_long(void **state)
{
	char text[2 * OPTIONS_FILE_MAX] = "file=";

	memset(text + 5, 'x', sizeof(text) - 6);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(agent(text), -EINVAL);
	assert_non_null(strstr(err.text, "too long"));
	text[5 + OPTIONS_FILE_MAX - 1] = '\0';
	assert_int_equal(agent(text), 0);
}

/* What is printed for the agent reads back as the same options. */
static void there_and_back(void **state)
{
	static const char *const rows[] = {
		"start", "start,event=ctimer,interval=100us,threads,total,lines,owner",
		"stop,collapsed", "dump,flat=5,traces=6", "start,features=stats,jstackdepth=7,queuesize=3",
		"start,collector-hold=300,engine-fail=perf", "start,output=flamegraph,title=x", "status",
		"start,quiet,verbose,strict,color", "start,event=page-faults,cpu,show=cpu,interval=7",
		"start,jstackdepth=70/7,cstack=no",
		"stop,simple,dot,norm,sig,ann,lib,samples,reverse,inverted,minwidth=2.5",
		"stop,include=a*,include=*b,exclude=c,minwidth=100", "stop,jstackdepth=2048/10",
		"start,timeout=10m,loop=*:15:00,log=/tmp/x,signal=27,filter=1-5;9",
		"start,sched,alluser,record-cpu,target-cpu=0", "start,target-cpu=8",
		"start,begin=f,end=A::g,nostop,memlimit=64m", "start,ttsp",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct buffer b = BUFFER_INIT;
		struct options first;

		assert_int_equal(agent(rows[i]), 0);
		first = o;
		options_print(&first, '\n', &b);
		buffer_putc(&b, '\0');
		options_init(&o);
		assert_int_equal(options_parse_agent(&o, b.data, '\n', &err), 0);
		/* it is a bare number now, which is of bytes as well */
		o.interval_bytes = first.interval_bytes;
		assert_memory_equal(&o, &first, sizeof(o));
		buffer_free(&b);
	}
	/* a comma in a value survives, for the separator is another */
	agent("start");
	strcpy(o.title, "a,b");
	struct buffer b = BUFFER_INIT;

	options_print(&o, '\n', &b);
	buffer_putc(&b, '\0');
	options_init(&o);
	assert_int_equal(options_parse_agent(&o, b.data, '\n', &err), 0);
	assert_string_equal(o.title, "a,b");
	buffer_free(&b);
}

/* Names are unique on each side, and every row that can be used has a way to be used. */
static void table_is_sound(void **state)
{
	const struct option *p, *q;

	for (p = option_table; p->kind; p++) {
		assert_true(p->agent || p->name || p->letter);
		assert_non_null(option_text(p)->help);
		for (q = p + 1; q->kind; q++) {
			assert_false(p->agent && q->agent && strcmp(p->agent, q->agent) == 0);
			assert_false(p->name && q->name && strcmp(p->name, q->name) == 0);
			assert_false(p->letter && p->letter == q->letter);
		}
		if (p->when != WHEN_LATER)
			assert_int_not_equal(p->kind, OPTION_NONE);
	}
}

static void help_hides_knobs(void **state)
{
	struct buffer help = BUFFER_INIT, page = BUFFER_INIT;

	options_help(&help);
	options_markdown(&page);
	buffer_putc(&help, '\0');
	buffer_putc(&page, '\0');
	assert_non_null(strstr(help.data, "--interval N"));
	assert_null(strstr(help.data, "queuesize"));
	assert_null(strstr(help.data, "token"));
	assert_non_null(strstr(help.data, "--nativelock [TIME]"));
	assert_non_null(strstr(help.data, "--alloc [SIZE]"));
	assert_non_null(strstr(help.data, "--wall [TIME]"));
	assert_non_null(strstr(page.data, "queuesize"));
	assert_non_null(strstr(page.data, "`token=HEX`"));
	assert_non_null(strstr(page.data, "`wall[=TIME]`"));
	buffer_free(&help);
	buffer_free(&page);
}

static void file_names(void **state)
{
	char out[64];

	setenv("TZ", "UTC", 1);
	setenv("JSTROBE_TEST", "yes", 1);
	assert_int_equal(options_file_name("a%p-%t.%{JSTROBE_TEST}%%", 42, 86399, -1, out, sizeof(out),
					   &err), 0);
	assert_string_equal(out, "a42-19700101-235959.yes%%");
	assert_int_equal(options_file_name("/dev/nothing%n", 1, 0, -1, out, sizeof(out), &err), 0);
	assert_string_equal(out, "/dev/nothing1");
	assert_int_equal(options_file_name("a%n", 1, 0, 0, out, sizeof(out), &err), 0);
	assert_string_equal(out, "a0");
	assert_int_equal(options_file_name("a%n{4}-%n.%{JSTROBE_TEST}", 1, 0, 6, out, sizeof(out), &err), 0);
	assert_string_equal(out, "a2-6.yes");
	assert_int_equal(options_file_name("a%n{4}", 1, 0, -1, out, sizeof(out), &err), 0);
	assert_string_equal(out, "a1");
	assert_int_equal(options_file_name("a%n{x}", 1, 0, 3, out, sizeof(out), &err), 0);
	assert_string_equal(out, "a3{x}");
	assert_int_equal(options_file_name("%{NO_SUCH_VARIABLE}", 1, 0, -1, out, sizeof(out), &err), -EINVAL);
	assert_int_equal(options_file_name("%{OPEN", 1, 0, -1, out, sizeof(out), &err), -EINVAL);
	assert_int_equal(options_file_name("%p", 1234, 0, -1, out, 4, &err), -ENAMETOOLONG);
}

static void java_methods_are_traced(void **state)
{
	assert_int_equal(agent("start,event=pkg.Class.method,timing=exact"), 0);
	assert_string_equal(o.instrument, "pkg.Class.method");
	assert_string_equal(o.event, "cpu");
	assert_int_equal(agent("start,trace=pkg.Class.method:50ms"), 0);
	assert_string_equal(o.instrument, "pkg.Class.method");
	assert_int_equal(o.latency, 50000000);
	assert_string_equal(o.trace, "");
	assert_int_equal(command("--trace pkg.Class::method 1"), 0);
	assert_string_equal(o.instrument, "pkg.Class::method");
	assert_int_equal(o.latency, 1); /* every call */
	assert_int_equal(agent("trace=pkg.Class.method:5q"), -EINVAL);
	assert_int_equal(agent("event=sched:a.b"), 0); /* another's */
	assert_string_equal(o.instrument, "");
	/* several */
	assert_int_equal(agent("start,trace=a.B.c:5ms,trace=a.B.d:5000us"), 0);
	assert_string_equal(o.instrument, "a.B.c;a.B.d");
	assert_int_equal(o.latency, 5000000);
	assert_int_equal(command("--trace a.B.c --trace a.B.d --latency 7ms 1"), 0);
	assert_string_equal(o.instrument, "a.B.c;a.B.d");
	assert_int_equal(o.latency, 7000000);
	assert_int_equal(agent("start,trace=a.B.c:5ms,trace=a.B.d:6ms"), -EINVAL);
	assert_non_null(strstr(err.text, "--latency"));
	assert_int_equal(agent("start,trace=a.B.c:5ms,trace=a.B.d"), -EINVAL);
	assert_int_equal(agent("start,latency=4ms,trace=a.B.c:5ms"), -EINVAL);
}

/* Read what the command tells the agent of O, into O. */
static void told_to_the_agent(void)
{
	struct buffer told = BUFFER_INIT;

	options_print(&o, '\n', &told);
	buffer_putc(&told, '\0');
	options_init(&o);
	assert_int_equal(options_parse_agent(&o, told.data, '\n', &err), 0);
	buffer_free(&told);
}

/* Calls are recorded beside what is sampled, and the command tells the agent the same. */
static void calls_beside_samples(void **state)
{
	static const char *const said[][3] = { /* options, what is sampled, what is traced */
		{"event=cpu,trace=a.B.c", "cpu", "a.B.c"},
		{"trace=a.B.c,event=wall", "wall", "a.B.c"},
		{"cpu,wall=5ms,trace=a.B.c,trace=a.B.d", "cpu,wall", "a.B.c;a.B.d"},
		{"lock=1ms,event=a.B.c,trace=a.B.d", "lock", "a.B.d;a.B.c"},
	};
	char text[128];
	unsigned i;

	for (i = 0; i < ARRAY_LEN(said); i++) {
		snprintf(text, sizeof(text), "start,%s,file=x.jfr", said[i][0]);
		assert_int_equal(agent(text), 0);
		assert_string_equal(o.event, said[i][1]);
		assert_string_equal(o.traced, said[i][2]);
		assert_string_equal(o.instrument, "");
		assert_int_equal(o.latency, 1);
		told_to_the_agent();
		assert_string_equal(o.event, said[i][1]);
		assert_string_equal(o.traced, said[i][2]);
		assert_int_equal(o.latency, 1);
	}
	assert_int_equal(agent("start,alloc=64k,trace=a.B.c:5ms"), 0);
	assert_int_equal(options_event_interval(&o, "alloc"), 65536);
	assert_int_equal(o.latency, 5000000);
	assert_int_equal(command("--all --trace a.B.c 1"), 0);
	assert_string_equal(o.traced, "a.B.c");
}

/* A Java method is an event whose samples are its calls; slashes and commas of its signature are its own. */
static void calls_are_samples(void **state)
{
	static const char *const said[][3] = { /* options, what is sampled, calls of what */
		{"event=pkg.Class.method,interval=1000", "calls", "pkg.Class.method"},
		{"event=pkg/Class.method", "calls", "pkg/Class.method"},
		{"event=a.B.c(Ljava/lang/String;[I)V,interval=5", "calls", "a.B.c(Ljava/lang/String;[I)V"},
		{"event=a.B.c(Lx/Y;)V,d.E.f(Lx/Z;)V,cpu", "calls,cpu", "a.B.c(Lx/Y;)V;d.E.f(Lx/Z;)V"},
		{"event=cpu,a.B.*,wall=5ms", "cpu,calls,wall", "a.B.*"},
		{"event=a.B.c,alloc=64k", "calls,alloc", "a.B.c"},
		{"methods=a.B.c;d.E,lock", "calls,lock", "a.B.c;d.E"},
		{"methods=a.B.c", "calls", "a.B.c"},
		{"event=cpu/event=0x3c:umask=1/,a.B.c", "cpu/event=0x3c:umask=1/,calls", "a.B.c"},
	};
	char text[128];
	unsigned i;

	for (i = 0; i < ARRAY_LEN(said); i++) {
		snprintf(text, sizeof(text), "start,%s", said[i][0]);
		if (agent(text)) fail_msg("%s: %s", text, err.text);
		assert_string_equal(o.event, said[i][1]);
		assert_string_equal(o.methods, said[i][2]);
		assert_string_equal(o.instrument, "");
		assert_string_equal(o.traced, "");
		/* the command tells the agent the same */
		told_to_the_agent();
		assert_string_equal(o.event, said[i][1]);
		assert_string_equal(o.methods, said[i][2]);
	}
	assert_int_equal(command("-e a.B.c,cpu -i 7 1"), 0);
	assert_string_equal(o.event, "calls,cpu");
	assert_int_equal(o.interval, 7);
	assert_int_equal(command("-e calls 1"), -EINVAL);
	assert_non_null(strstr(err.text, "which methods"));
	assert_int_equal(agent("start,methods=a.B.c,trace=a.B.d"), -EINVAL);
	assert_int_equal(agent("start,methods=a.B.c,instrument=a.B.d"), -EINVAL);
	/* an option that is not known, whatever its value looks like */
	assert_int_equal(agent("start,jfr,event=wall,dbghelppath=/x/dbghelp.dll,cstack=no"), 0);
	assert_string_equal(o.event, "wall");
	assert_non_null(strstr(o.notes, "dbghelppath"));
}

/* What would be ignored beside calls is refused, with what to do. */
static void calls_are_counted_alone(void **state)
{
	static const char *const sampled[] = {"event=cpu", "event=wall", "event=cpu,wall", "wall", "lock=1ms", "wall=5ms",
					      "cpu"};
	char text[64];
	unsigned i;

	for (i = 0; i < ARRAY_LEN(sampled); i++) {
		snprintf(text, sizeof(text), "start,instrument=a.B,%s", sampled[i]);
		assert_int_equal(agent(text), -EINVAL);
		assert_non_null(strstr(err.text, "one after the"));
	}
	assert_int_equal(agent("start,trace=a.B.c,interval=2"), -EINVAL);
	assert_non_null(strstr(err.text, "every call"));
	assert_int_equal(command("--instrument a.B -i 1ms 1"), -EINVAL);
	assert_int_equal(agent("start,trace=a.B.c,event=a.B.d"), 0);
	assert_string_equal(o.instrument, "a.B.c;a.B.d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(agent_string),
		cmocka_unit_test(agent_actions),
		cmocka_unit_test(formats_as_bare_words),
		cmocka_unit_test(formats_and_words_agree),
		cmocka_unit_test(times),
		cmocka_unit_test(senseless_intervals),
		cmocka_unit_test(durations),
		cmocka_unit_test(events),
		cmocka_unit_test(events_shown),
		cmocka_unit_test(wall_beside_others),
		cmocka_unit_test(lock_beside_others),
		cmocka_unit_test(known_but_not_yet),
		cmocka_unit_test(unknown),
		cmocka_unit_test(left_out),
		cmocka_unit_test(spelling_and_filters),
		cmocka_unit_test(percents),
		cmocka_unit_test(sizes),
		cmocka_unit_test(depths),
		cmocka_unit_test(native_stacks),
		cmocka_unit_test(moments),
		cmocka_unit_test(summer_time),
		cmocka_unit_test(refused_beside),
		cmocka_unit_test(places),
		cmocka_unit_test(thread_lists),
		cmocka_unit_test(all_is_read),
		cmocka_unit_test(known_words),
		cmocka_unit_test(without_effect),
		cmocka_unit_test(command_line),
		cmocka_unit_test(converting),
		cmocka_unit_test(taken),
		cmocka_unit_test(help_of_commands),
		cmocka_unit_test(program_after_dashes),
		cmocka_unit_test(too_long),
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(table_is_sound),
		cmocka_unit_test(java_methods_are_traced),
		cmocka_unit_test(calls_are_counted_alone),
		cmocka_unit_test(calls_beside_samples),
		cmocka_unit_test(calls_are_samples),
		cmocka_unit_test(help_hides_knobs),
		cmocka_unit_test(file_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
