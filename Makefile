# jstrobe - build, test, install. `make help` lists the targets.
#
# One rule a kind of file and wildcards by room: a new src/<house>/<room>/*.c needs no line here.
# Nothing is written outside $(O), except by `install`.

O      ?= build
PREFIX ?= /usr/local
SAN    ?=
V      ?=
ONLY   ?=
FUZZ_SECONDS ?= 60
PID    ?=
PYTHON ?= /usr/bin/python3

# Another CPU's tools: CROSS=aarch64-linux-gnu- (see scripts/check-cross.sh).
CROSS ?=
ifeq ($(origin CC),default)
CC := $(CROSS)gcc
endif
OBJCOPY := $(CROSS)objcopy
CFLAGS ?= -O2 -g
VERSION := $(shell sed -n 's/^.define JSTROBE_VERSION "\(.*\)"/\1/p' src/common/base/base.h)

# All of the machine; a make that is called by another takes the jobs that one gives it.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
comma := ,
.SECONDARY:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

ifeq ($(V),)
Q   := @
say  = @printf '  %-7s %s\n' '$(1)' '$(patsubst $(O)/%,%,$(2))';
else
say  = @:;
endif

# ---- rooms -------------------------------------------------------------------
# What goes into the library and into the command; a room without files is no error.
# Which is which stands in src/ROOMS.
rooms = $(shell awk '/^[a-z]/ && ($$3 == "$(1)" || $$3 == "both") { print $$1 }' src/ROOMS)
LIB_ROOMS := $(call rooms,agent)
CMD_ROOMS := $(call rooms,command)
ZONE_ROOMS := $(shell awk '/^[a-z]/ && $$2 == "handler" { print $$1 }' src/ROOMS)

# The CPU that the compiler makes code for, under the names of the folders arch/<cpu>/. What it shares with others lies
# in a folder named here; one without a walker takes the files of arch/unwalked/.
SHARED_x86_64 := x86
SHARED_i386 := x86
SHARED_aarch64 := linked
SHARED_arm := linked
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
ARCH := $(patsubst i%86,i386,$(patsubst powerpc64le,ppc64le,$(MACHINE)))
WALKER := $(or $(SHARED_$(ARCH)),$(if $(wildcard src/agent/walk/arch/$(ARCH)/prologue.c),,unwalked))
# $(call sources,room): C and assembler files of a room, other CPUs' folders left out.
find     = $(shell find $(1) -name '*.[cS]' 2>/dev/null | LC_ALL=C sort)
ours     = $(strip $(foreach a,$(ARCH) $(WALKER) $(if $(filter x86,$(WALKER)),,not_x86),$(findstring /arch/$a/,$(1))))
sources  = $(foreach f,$(call find,src/$(1)),\
             $(if $(findstring /arch/,$f),$(if $(call ours,$f),$f),$f))
objects  = $(patsubst %,$(O)/obj/%.o,$(foreach room,$(1),$(call sources,$(room))))
# What stands in for functions of libc is the library's alone: tests and the command have libc's own.
LIBC_OBJ := $(O)/obj/src/agent/hooks/libc/lacking.c.o
LOCKS_OBJ = $(if $(CHECK_LOCKS),$(O)/obj/tests/locks/lock_check.c.o)
LIB_OBJ := $(filter-out $(LIBC_OBJ),$(call objects,$(LIB_ROOMS))) $(LOCKS_OBJ)
CMD_OBJ := $(call objects,$(CMD_ROOMS)) $(LOCKS_OBJ)
# Files that have knobs for tests are compiled once more with them (src/common/base/knob.h).
KNOBBED := $(patsubst %,$(O)/obj/%.o,$(shell grep -rl --include='*.c' '"common/base/knob.h"' src))
knobbed  = $(foreach o,$(1),$(if $(filter $o,$(KNOBBED)),$(o:$(O)/obj/%=$(O)/obj/knobs/%),$o))
missing := $(strip $(foreach r,$(LIB_ROOMS),$(if $(strip $(call sources,$r)),,$r)))

# ---- flags -------------------------------------------------------------------
JDK := $(shell scripts/find-jdk.sh)
# Shared code includes its CPU's headers by their bare names.
INCLUDES = -Isrc -Iinclude -Isrc/common/base/arch/$(ARCH) $(addprefix -Isrc/agent/walk/arch/,$(ARCH) $(WALKER)) -I$(O)/gen $(if $(JDK),-isystem $(JDK)/include -isystem $(JDK)/include/linux)
WARN  := -Wall -Wextra -Wvla -Wno-unused-parameter -Wmissing-prototypes -Wstrict-prototypes
# Files, /proc/self/mem among them, have offsets of 64 bits on CPUs of 32 too.
OFFSETS := $(if $(filter i386 arm,$(ARCH)),-D_FILE_OFFSET_BITS=64)
BASE  := -std=gnu11 -D_GNU_SOURCE $(OFFSETS) -pthread -fPIC -fvisibility=hidden -fno-strict-aliasing \
         -ffunction-sections -fdata-sections $(WARN) $(WERROR)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# Locks tell in which order they are taken (tests/locks); objects of such a build need a folder of their own.
CHECK_LOCKS ?=
COMPILE = $(CC) $(BASE) $(CFLAGS) $(SANFLAGS) $(INCLUDES) $(if $(CHECK_LOCKS),-include tests/locks/lock_check.h) $(CPPFLAGS)
# The signal zone is plain code whatever the build: a sanitizer, coverage, LTO or stack
# protector would call functions there that may not run in a signal handler.
ZONE_PLAIN := -fno-sanitize=all -fno-lto -fno-stack-protector -fno-profile-arcs -fno-test-coverage
# Code that runs a few times a session, or for a result, shall be small: no program waits for it.
SMALL_ROOMS := common/bytecode common/hotspot common/options profile/model profile/writers agent/jvm agent/session agent/command agent/door
SMALL_OBJ := $(call objects,$(SMALL_ROOMS)) $(patsubst %,$(O)/obj/src/common/%.c.o,os/output os/output_copy os/output_left os/threads os/maps os/perf_event \
  os/perf_sources os/cpu_load elf/file elf/object elf/kallsyms) $(patsubst %,$(O)/obj/src/agent/tracing/%.c.o,tracing trace_classes \
  trace_constructors trace_entered trace_list trace_loading trace_pace trace_result trace_running trace_statistics trace_work) \
  $(patsubst %,$(O)/obj/src/agent/%.c.o,sources/live/reference_walk sources/live/reference_fields collect/aggregate_view \
  collect/collector_views collect/survivors collect/held collect/carry collect/carry_names collect/carry_threads collect/carry_waits collect/aggregate_waits collect/aggregate_open_waits \
  sources/events_available sources/event_resolve sources/window_breakpoints sources/lock/lock_bind \
  hooks/got hooks/dynamic hooks/copies hooks/hooked_calls hooks/process_calls hooks/child threads/thread_names threads/java_threads threads/records threads/closers collect/stack_store_memory \
  collect/generation collect/collector collect/aggregate_fields collect/aggregate_losses collect/names/method_identity \
  sources/cpu/perf_transfer sources/cpu/shortfalls sinks/recording/recording_survivors sinks/recording/recording_heap \
  sinks/recording/recording sinks/stream/stream sinks/stream/stream_out sinks/stream/stream_closing sources/engine sources/engine_clocks sources/callback_source context/java_context)
SMALL = $(patsubst -O2,-Os,$(filter -O2,$(CFLAGS)))
# Nothing unwinds through these: they run on threads of ours and in the command. A debugger has the .debug file.
NOT_UNWOUND := common/options profile/model profile/writers agent/collect agent/sinks

LDFLAGS_LIB := -shared -pthread -static-libgcc -Wl,-z,now,-z,relro,-z,nodelete -Wl,-Bsymbolic \
  -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--version-script=src/agent/door/exports.map \
  -Wl,-soname,libjstrobe.so $(if $(missing)$(SAN),,-Wl,-z,defs)
# The command runs in any container, whatever libc it has: static where the static libc is there.
STATIC := $(if $(SAN),,$(shell printf 'int main(void){return 0;}' | $(CC) -fPIE -static-pie -x c -o /dev/null - 2>/dev/null && echo -static-pie))
# zlib, in the command alone and where it is there for this CPU and libc; else files of gzip are not compressed.
ZLIB := $(shell printf '\043include <zlib.h>\nint main(void) { return *zlibVersion() == 0; }' | $(CC) $(CPPFLAGS) $(STATIC) -x c -o /dev/null - -lz 2>/dev/null && echo -lz)
# liblz4 in the same way; else files of lz4 are not read.
LZ4 := $(shell printf '\043include <lz4frame.h>\nint main(void) { return LZ4F_getVersion() == 0; }' | $(CC) $(CPPFLAGS) $(STATIC) -x c -o /dev/null - -llz4 2>/dev/null && echo -llz4)
PACKERS := $(ZLIB) $(LZ4)
LDFLAGS_CMD := -pthread -Wl,-z,now,-z,relro -Wl,--gc-sections
LIBS ?= -liberty

# The library runs on glibc 2.17 and later, whatever glibc it is built on (src/agent/hooks/libc/old.def).
OLD_GLIBC := $(if $(SAN),,$(if $(filter x86_64 aarch64,$(ARCH)),$(shell \
  echo '#include <features.h>' | $(CC) -E -dM -x c - | grep 'define __GLIBC__ ' >/dev/null && echo $(O)/gen/old-libc)))

LIB := $(O)/lib/libjstrobe.so
CMD := $(O)/bin/jstrobe
CONTEXT_JAR := $(O)/lib/jstrobe-context.jar
API_JAR := $(O)/lib/jstrobe.jar
# The same with knobs.
KNOBS_LIB := $(O)/tests/knobs/lib/libjstrobe.so
KNOBS_CMD := $(O)/tests/knobs/bin/jstrobe

# ---- build -------------------------------------------------------------------
all: $(LIB) $(CONTEXT_JAR) $(API_JAR) $(if $(strip $(call sources,cli)),$(CMD) $(O)/bin/asprof $(O)/bin/profiler.sh $(O)/bin/jfrconv) ## build the command and the agent library (default)
	@$(if $(missing),echo 'note: rooms without code: $(missing)',:)
ifneq ($(filter all $(LIB) $(CMD),$(or $(MAKECMDGOALS),all)),)
$(if $(JDK),,$(error no JDK with headers found: set JAVA_HOME, put javac on PATH, or run `make deps`))
endif

# A JVM may have the old library mapped, so it is never written in place: link aside, rename.
# Debug information goes into a file beside it; what lies in lib/ is what gets installed.
$(LIB): $(LIB_OBJ)
$(KNOBS_LIB): $(call knobbed,$(LIB_OBJ))
$(LIB) $(KNOBS_LIB): $(if $(SAN),,$(LIBC_OBJ)) $(OLD_GLIBC) src/agent/door/exports.map Makefile
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS_LIB) $(LDFLAGS) -o $@.new \
	  $(if $(OLD_GLIBC),-Wl$(comma)--no-as-needed $(OLD_GLIBC)/*.so.* -Wl$(comma)--as-needed) $(filter %.o,$^) $(LIBS)
	$(Q)$(OBJCOPY) --only-keep-debug $@.new $@.debug.new && mv -f $@.debug.new $@.debug
	$(Q)cd $(@D) && $(OBJCOPY) $(if $(SAN),--strip-debug,--strip-unneeded) \
	  --add-gnu-debuglink=$(@F).debug $(@F).new && mv -f $(@F).new $(@F)

$(O)/gen/old-libc: src/agent/hooks/libc/old.def scripts/old-libc.sh | $(O)/gen/
	$(Q)rm -rf $@ && CC='$(CC)' scripts/old-libc.sh $< $(ARCH) $@.new && mv $@.new $@

$(CMD): $(CMD_OBJ)
$(KNOBS_CMD): $(call knobbed,$(CMD_OBJ))
$(CMD) $(KNOBS_CMD): Makefile
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS_CMD) $(or $(STATIC),-pie) $(LDFLAGS) -o $@.new $(filter %.o,$^) $(PACKERS) && mv -f $@.new $@

$(O)/bin/asprof $(O)/bin/profiler.sh $(O)/bin/jfrconv: | $(O)/bin/
	$(Q)ln -sfn jstrobe $@

$(ZONE_ROOMS:%=$(O)/obj/src/%/%.c.o): private COMPILE += $(ZONE_PLAIN) $(ZONE_EXTRA)
$(SMALL_OBJ) $(call knobbed,$(SMALL_OBJ)): private COMPILE += $(SMALL)
$(O)/obj/src/profile/views/gzip.c.o $(O)/obj/src/profile/readers/input/gunzip.c.o: private COMPILE += $(ZLIB:-lz=-DJSTROBE_ZLIB)
$(O)/obj/src/profile/readers/input/unlz4.c.o: private COMPILE += $(LZ4:-llz4=-DJSTROBE_LZ4)
$(NOT_UNWOUND:%=$(O)/obj/src/%/%.c.o): private COMPILE += -fno-asynchronous-unwind-tables
$(O)/obj/%.o: % $(O)/flags $(O)/flags-of-rooms
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(COMPILE) -MMD -MP -c -o $@ $<
$(O)/obj/knobs/%.o: % $(O)/flags $(O)/flags-of-rooms
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(COMPILE) -DJSTROBE_TESTED -MMD -MP -c -o $@ $<

# Objects depend on the flags they were made with.
$(O)/flags: force | $(O)/
	@echo '$(COMPILE)' | cmp -s - $@ || echo '$(COMPILE)' > $@
$(O)/flags-of-rooms: force | $(O)/
	@echo '$(SMALL_OBJ): $(SMALL); $(NOT_UNWOUND)' | cmp -s - $@ || echo '$(SMALL_OBJ): $(SMALL); $(NOT_UNWOUND)' > $@

# Files written by the build itself are C sources under $(O)/gen; each has a rule here.
-include $(wildcard scripts/generated.mk)
$(LIB_OBJ) $(CMD_OBJ) $(call knobbed,$(KNOBBED)): | $(GENERATED)

$(O)/ $(O)/lib/ $(O)/bin/ $(O)/tests/ $(O)/gen/:
	@mkdir -p $@

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)

# ---- set-up ------------------------------------------------------------------
deps: ## install what building and testing need (apt-get as root or by sudo -n)
	@scripts/deps.sh build test

# ---- demo --------------------------------------------------------------------
demo: ## build, start a small Java program and profile it for 10 s (PID=n: that process)
	@scripts/deps.sh build
	@+$(MAKE) --no-print-directory all
	@O=$(O) scripts/demo.sh $(PID)

# ---- tests -------------------------------------------------------------------
# Unit tests: each tests/unit/test_*.c is a program of its own, linked with what it needs of
# the rooms. Other files in tests/unit/ are helpers that any of them may use, and lib_*.c
# libraries that tests load at run time, bound at once (.so) and lazily (_lazy.so).
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_LIB := $(wildcard tests/unit/lib_*.c)
UNIT_HELP := $(filter-out $(UNIT_SRC) $(UNIT_LIB),$(wildcard tests/unit/*.c))
UNIT_SO  := $(UNIT_LIB:tests/unit/%.c=$(O)/tests/%.so) $(UNIT_LIB:tests/unit/%.c=$(O)/tests/%_lazy.so)
UNIT_SO  += $(O)/tests/libcopy.so
UNIT     := $(UNIT_SRC:tests/unit/%.c=$(O)/tests/%)
# Fuzzers: here each is a program that runs the inputs kept in tests/fuzz/corpus.
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
REPLAY   := $(FUZZ_SRC:tests/fuzz/%.c=$(O)/tests/%)
ROOMS_AR := $(O)/tests/rooms.a

$(ROOMS_AR): $(call knobbed,$(LIB_OBJ)) $(call objects,$(filter-out $(LIB_ROOMS),$(CMD_ROOMS))) $(UNIT_HELP:%=$(O)/obj/%.o) | $(O)/tests/
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
$(O)/tests/%.so: $(O)/obj/tests/unit/%.c.o | $(O)/tests/
	$(Q)$(CC) $(SANFLAGS) -shared -Wl,-z,now,-z,relro $(LDFLAGS) -o $@ $<
$(O)/tests/%_lazy.so: $(O)/obj/tests/unit/%.c.o | $(O)/tests/
	$(Q)$(CC) $(SANFLAGS) -shared -Wl,-z,lazy,-z,norelro $(LDFLAGS) -o $@ $<
# The library with sessions that need no JVM: its copies meet in one process.
$(O)/tests/libcopy.so: $(LIB_OBJ) $(patsubst %,$(O)/obj/%.o,$(wildcard tests/unit/copy/*.c) tests/unit/harness.c) | $(O)/tests/
	$(call say,LD,$@)
	$(Q)$(CC) $(SANFLAGS) -shared -pthread -Wl,-z,now,-z,nodelete -Wl,-Bsymbolic -Wl,-soname,libjstrobe.so $(LDFLAGS) \
	  -o $@ $(filter %.o,$^) -lcmocka $(LIBS)
$(UNIT): $(O)/tests/%: $(O)/obj/tests/unit/%.c.o $(ROOMS_AR) | $(UNIT_SO)
	$(call say,LD,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS_CMD) -pie $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS) -lz $(LZ4) -ldl -lm
$(REPLAY): $(O)/tests/%: $(O)/obj/tests/fuzz/%.c.o $(O)/obj/tests/fuzz/replay.c.o $(O)/obj/tests/fuzz/fuzz.c.o $(ROOMS_AR)
	$(call say,LD,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS_CMD) -pie $(LDFLAGS) -o $@ $^ $(LIBS) $(PACKERS)
# Tests in which these calls fail when told to (tests/unit/faulty.c).
WRAPPED := malloc calloc realloc strdup strndup mmap mremap mprotect fopen opendir open syscall
$(filter $(O)/tests/test_faults_%,$(UNIT)): LDFLAGS += $(WRAPPED:%=-Wl,--wrap=%)
# The library once more, with what runs its walkers at each instruction of a thread (tests/jvm/step).
STEP := $(O)/tests/libstep.so
$(STEP): $(LIB_OBJ) $(patsubst %,$(O)/obj/%.o,$(wildcard tests/jvm/step/*.c)) | $(O)/tests/
	$(call say,LD,$@)
	$(Q)$(CC) $(SANFLAGS) -shared -pthread -Wl,-z,now -Wl,-Bsymbolic $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)
# Programs that tests call.
# The decoder of x86 is held against a library, where that is there (scripts/deps.sh test).
ZYDIS := $(if $(filter x86_64,$(ARCH)),$(wildcard /usr/include/Zydis/Zydis.h))
TOOLS := $(patsubst tests/tools/%.c,$(O)/tests/%,$(filter-out $(if $(ZYDIS),,%_zydis.c),$(wildcard tests/tools/*.c)))
$(O)/tests/insn_against_zydis: LIBS += -lZydis -lZycore
$(TOOLS): $(O)/tests/%: $(O)/obj/tests/tools/%.c.o $(ROOMS_AR)
	$(call say,LD,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS_CMD) -pie $(LDFLAGS) -o $@ $^ $(LIBS) $(PACKERS)
tools: $(TOOLS) knobs
knobs: $(KNOBS_LIB) $(KNOBS_CMD) ## the library and the command once more, with knobs for tests (O/tests/knobs)
unit: $(UNIT) $(REPLAY) ## build and run the unit tests
	@$(PYTHON) tests/run.py --out $(O)/tests unit $(UNIT) $(REPLAY)
unit-programs: $(UNIT) $(REPLAY)
step: $(STEP)

check: ## install what is missing, build, run all tests (shortened counts, most tests on one JDK only)
	@scripts/deps.sh build test
	@+$(MAKE) --no-print-directory check-run
check-run: all step knobs $(UNIT) $(REPLAY) $(TOOLS)
	@+$(MAKE) --no-print-directory O=$(O)/san SAN=address,undefined unit-programs
	@O=$(O) CC='$(CC)' $(PYTHON) tests/run.py --out $(O)/tests check $(UNIT) $(REPLAY)

# SHARE=1 MINUTES=60 for all of it: two days.
SHARE ?= 0.02
MINUTES ?= 1
soak: ## the tests with larger counts (hours): SHARE of the full ones (0.02), MINUTES each where memory is watched (1)
	@scripts/deps.sh build test recipes
	@+$(MAKE) --no-print-directory all step knobs unit-programs tools
	@O=$(O) CC='$(CC)' JSTROBE_SOAK=1 JSTROBE_SHARE=$(SHARE) JSTROBE_SOAK_MINUTES=$(MINUTES) \
	  $(PYTHON) tests/run.py --out $(O)/tests soak $(UNIT)

check-jdks: ## fetch every JVM that can be had and profile known programs on each, in each mode (an hour)
	@scripts/deps.sh build jdks
	@+$(MAKE) --no-print-directory all
	@O=$(O) PYTHON=$(PYTHON) scripts/fetch-jdks.sh
	@O=$(O) CC='$(CC)' $(PYTHON) tests/jdks.py

# CPUs that have a walker.
EMULATED := aarch64 i386 arm ppc64le
check-cross: ## build for other CPUs and for musl without warnings (ONLY=cpu for one)
	@scripts/deps.sh build cross
	@O=$(O) scripts/check-cross.sh $(ONLY)

check-emulated: ## profile known programs on Debian's JVMs for i386 and, under qemu-user, others (slow; ONLY=cpu)
	@scripts/deps.sh build cross emulated
	@O=$(O) scripts/check-cross.sh $(or $(ONLY),$(EMULATED))
	@O=$(O) $(PYTHON) tests/emulated.py --cpu $(subst $() ,$(comma),$(or $(ONLY),$(EMULATED)))

# The same entries under libFuzzer, which needs clang; everything but the signal zone tells it what ran.
FUZZERS := $(FUZZ_SRC:tests/fuzz/%.c=$(O)/fuzzers/%)
$(FUZZERS): $(O)/fuzzers/%: $(O)/obj/tests/fuzz/%.c.o $(O)/obj/tests/fuzz/fuzz.c.o $(ROOMS_AR)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANFLAGS) -fsanitize=fuzzer $(LDFLAGS_CMD) -pie $(LDFLAGS) -o $@ $^ $(LIBS) $(PACKERS)
fuzzers: $(FUZZERS)
fuzz: ## let libFuzzer look for inputs that break the parsers (ONLY=name, FUZZ_SECONDS=n each)
	@scripts/deps.sh build fuzz
	@+$(MAKE) --no-print-directory O=$(O)/fuzz CC=clang SAN=address,undefined \
	  CFLAGS='-O1 -g -fsanitize=fuzzer-no-link -DCONVERT_LIMITS_SMALLER' fuzzers
	@O=$(O)/fuzz FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run.sh $(ONLY)

bench: ## measure against other profilers (ONLY=name for one row)
	@scripts/deps.sh build
	@+$(MAKE) --no-print-directory all tools
	@O=$(O) $(PYTHON) bench/run.py $(ONLY)

# Pages made from tables; tests/check/test_docs.py fails when they are not up to date.
docs: all ## write the pages of docs/ that are made from tables
	$(Q)$(CMD) help --markdown > docs/reference/options.md.new && mv docs/reference/options.md.new docs/reference/options.md
	$(Q)(sed '/^<!-- made by/q' docs/reference/findings.md; $(CMD) help --markdown findings) > docs/reference/findings.md.new && \
	  mv docs/reference/findings.md.new docs/reference/findings.md
	$(Q)(sed '/^<!-- made by/q' docs/reference/words.md; $(CMD) help --markdown words) > docs/reference/words.md.new && \
	  mv docs/reference/words.md.new docs/reference/words.md
	$(Q)(sed '/^<!-- made by/q' docs/use/top.md; $(CMD) help --markdown top) > docs/use/top.md.new && \
	  mv docs/use/top.md.new docs/use/top.md
	$(Q)scripts/counters-doc.py > docs/reference/counters.md.new && mv docs/reference/counters.md.new docs/reference/counters.md
	$(Q)scripts/stream-schema.py > docs/reference/stream.schema.json.new && mv docs/reference/stream.schema.json.new docs/reference/stream.schema.json
	$(Q)scripts/formats-doc.py > docs/reference/formats.md.new && mv docs/reference/formats.md.new docs/reference/formats.md
	$(Q)scripts/memory-doc.py > docs/reference/memory.md.new && mv docs/reference/memory.md.new docs/reference/memory.md
	$(Q)O=$(O) $(PYTHON) bench/run.py --write-docs

# ---- install -----------------------------------------------------------------
bindir := $(DESTDIR)$(PREFIX)/bin
libdir := $(DESTDIR)$(PREFIX)/lib
incdir := $(DESTDIR)$(PREFIX)/include
share  := $(DESTDIR)$(PREFIX)/share
# What the shells and man read, and the word by which the command writes it.
TEXTS := bash-completion/completions/jstrobe:--completion=bash \
         bash-completion/completions/asprof:--completion=bash \
         zsh/site-functions/_jstrobe:--completion=zsh fish/vendor_completions.d/jstrobe.fish:--completion=fish \
         man/man1/jstrobe.1:--man=jstrobe man/man7/jstrobe-agent.7:--man=agent
text_file = $(share)/$(firstword $(subst :, ,$(1)))
install: all ## install to PREFIX (/usr/local), under DESTDIR
	install -d $(bindir) $(libdir)
	install -m 755 $(LIB) $(libdir)/.libjstrobe.so.new && mv -f $(libdir)/.libjstrobe.so.new $(libdir)/libjstrobe.so
	install -m 644 $(CONTEXT_JAR) $(libdir)/jstrobe-context.jar
	install -m 644 $(API_JAR) $(libdir)/jstrobe.jar
	install -d $(incdir)
	install -m 644 include/jstrobe.h $(incdir)/jstrobe.h
	install -m 755 $(CMD) $(bindir)/.jstrobe.new && mv -f $(bindir)/.jstrobe.new $(bindir)/jstrobe
	ln -sfn jstrobe $(bindir)/asprof
	ln -sfn jstrobe $(bindir)/profiler.sh
	ln -sfn jstrobe $(bindir)/jfrconv
	$(foreach t,$(TEXTS),install -d $(dir $(call text_file,$t)) && \
	  $(CMD) help $(subst =, ,$(lastword $(subst :, ,$t))) > $(call text_file,$t) && ) :
# Built anew and with names that do not tell where: the same sources give the same bytes.
release: ## tar.gz, debug information and Debian package of this version, in O/release
	@rm -rf $(O)/release
	@+CFLAGS='-O2 -g -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(abspath $(O))=.' \
	  scripts/release.sh $(O) $(VERSION) $(ARCH)
uninstall: ## remove what install put there
	rm -f $(bindir)/jstrobe $(libdir)/libjstrobe.so $(libdir)/jstrobe-context.jar $(libdir)/jstrobe.jar $(incdir)/jstrobe.h
	for l in asprof profiler.sh jfrconv; do [ "$$(readlink $(bindir)/$$l)" != jstrobe ] || rm -f $(bindir)/$$l; done
	rm -f $(foreach t,$(TEXTS),$(call text_file,$t))
clean: ## remove the build folder
	rm -rf $(O)

help: ## this list
	@echo 'jstrobe $(VERSION) - targets:'
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'
	@echo 'variables:'
	@echo '  O=dir          folder for everything that is built (build)'
	@echo '  V=1  JOBS=1    show the commands; one at a time'
	@echo '  CC=clang       another compiler;  CFLAGS="-O0 -g"'
	@echo '  SAN=address    sanitizers: address, undefined, thread (the signal zone stays plain)'
	@echo '  JAVA_HOME=dir  the JDK to build with and to test on'
	@echo '  PREFIX= DESTDIR=  where install puts things'
	@echo '  ONLY=name      bench: one row, fuzz: one fuzzer;  PID=n  demo: profile this process'

force:
.PHONY: release all deps demo unit unit-programs step check check-run check-jdks check-cross check-emulated soak fuzz fuzzers bench docs install uninstall clean help force tools knobs
