# generated.mk - sources that the build writes itself, under $(O)/gen/.

# JDKs before 18 read sources as the locale has it.
JAVAC = $(JDK)/bin/javac --release 8 -encoding UTF-8 -nowarn -Xlint:-options

PAGE_JS := web/data.js web/diff.js web/views.js web/graph.js web/tables.js web/calltree.js web/io.js web/timeline.js web/rest.js \
  web/strip.js web/lanes.js web/heatmap.js web/main.js

# Beside, in pages that the command writes: the library has no room for it. It stands before timeline.js.
PAGE_MORE_JS := web/program.js web/work.js web/findings.js web/locks.js web/marks.js web/latency.js web/events.js web/edit.js \
  web/menu.js web/memory.js web/rows.js web/packages.js web/sandwich.js web/chart.js web/more.js

$(O)/gen/page_more.h: scripts/strip.awk scripts/generated.mk $(PAGE_MORE_JS) | $(O)/gen/
	$(call say,GEN,$@)
	$(Q)awk -f scripts/strip.awk $(PAGE_MORE_JS) > $@.js
	$(Q)(echo '/* Made from web/ by scripts/generated.mk; changes here are lost. */'; echo 'static const char page_more[] ='; \
	    printf '%s\n' '	"</script>\n<script type=\"text/plain\" id=\"more\">\n"'; gzip -9n < $@.js | base64 -w 100 | sed 's/.*/\t"&"/'; echo '	"";') > $@.new && mv -f $@.new $@

GENERATED += $(O)/gen/page_more.h

# The page's code travels packed (web/start.js opens it): the library holds it, and every page, there in base64.
$(O)/gen/page_code.h: scripts/strip.awk scripts/generated.mk $(PAGE_JS) | $(O)/gen/
	$(call say,GEN,$@)
	$(Q)awk -f scripts/strip.awk $(PAGE_JS) > $@.js
	$(Q)(echo "window.jstrobePage = function (PROFILES, bytesOf) {"; echo "'use strict';"; cat $@.js; echo "};") | \
	    gzip -9n > $@.gz
	$(Q)(echo '/* Made from web/ by scripts/generated.mk; changes here are lost. */'; \
	    echo 'static const unsigned char page_code[] = {'; od -An -v -tx1 $@.gz | sed 's/ \(..\)/0x\1,/g'; echo '};') > $@.new && \
	    mv -f $@.new $@

GENERATED += $(O)/gen/page_code.h

$(O)/gen/page_template.h: scripts/embed.awk scripts/strip.awk web/flame.html web/flame.css web/start.js
	$(call say,GEN,$@)
	$(Q)awk -f scripts/strip.awk web/flame.css > $@.css && awk -f scripts/strip.awk web/start.js > $@.js
	$(Q)awk -f scripts/embed.awk -v css=$@.css -v start=$@.js web/flame.html > $@.new && \
	    mv -f $@.new $@

GENERATED += $(O)/gen/page_template.h

# The classes that instrumented methods call, as bytes. The JDK's classes that they use are not there for a
# compiler; java/stubs/ stands in for them.
PROBE_JAVA := java/java/lang/JstrobeProbe.java java/jstrobe/Natives.java $(shell find java/stubs -name '*.java')
PROBE_CLASSES := java/lang/JstrobeProbe jstrobe/Natives
$(O)/gen/probe_class.h: $(PROBE_JAVA) scripts/generated.mk | $(O)/gen/
	$(call say,JAVAC,$@)
	$(Q)$(JAVAC) -d $(O)/gen/probe $(PROBE_JAVA)
	$(Q)(for c in $(PROBE_CLASSES); do \
	    echo "static const unsigned char class_$$(basename $$c)[] = {"; \
	    od -An -v -tx1 $(O)/gen/probe/$$c.class | sed 's/ \(..\)/0x\1,/g'; \
	    echo '};'; \
	  done) > $@.new && mv -f $@.new $@

GENERATED += $(O)/gen/probe_class.h

# What LockSupport calls while lock waits are watched.
$(O)/gen/waits_class.h: java/jstrobe/Waits.java scripts/generated.mk | $(O)/gen/
	$(call say,JAVAC,$@)
	$(Q)$(JAVAC) -d $(O)/gen/waits java/jstrobe/Waits.java
	$(Q)(echo "static const unsigned char class_Waits[] = {"; \
	    od -An -v -tx1 $(O)/gen/waits/jstrobe/Waits.class | sed 's/ \(..\)/0x\1,/g'; \
	    echo '};') > $@.new && mv -f $@.new $@

GENERATED += $(O)/gen/waits_class.h

# The program that `jstrobe selftest` profiles, as a jar. It is stored uncompressed: what reads it first is a JVM.
SELFTEST_JAVA := $(wildcard java/selftest/*.java)
$(O)/gen/selftest_jar.h: $(SELFTEST_JAVA) scripts/generated.mk | $(O)/gen/
	$(call say,JAVAC,$@)
	$(Q)rm -rf $(O)/gen/selftest
	$(Q)$(JAVAC) -g -d $(O)/gen/selftest $(SELFTEST_JAVA)
	$(Q)$(JDK)/bin/jar --create --no-compress --file=$(O)/gen/selftest.jar $(JAR_DATE) -C $(O)/gen/selftest .
	$(Q)(echo "static const unsigned char selftest_jar[] = {"; \
	    od -An -v -tx1 $(O)/gen/selftest.jar | sed 's/ \(..\)/0x\1,/g'; \
	    echo '};') > $@.new && mv -f $@.new $@

GENERATED += $(O)/gen/selftest_jar.h

# The class by which programs say what their threads work for. They compile against it and take it along.
# With a date of its own (JDK 17 and later) the same sources give the same bytes.
JAR_DATE = $(shell $(JDK)/bin/jar --help 2>&1 | grep -q -e --date && echo --date=1980-01-01T00:00:02Z)
CONTEXT_JAVA := java/jstrobe/context/SampleContext.java java/jstrobe/context/manifest
$(CONTEXT_JAR): $(CONTEXT_JAVA) scripts/generated.mk | $(O)/lib/
	$(call say,JAR,$@)
	$(Q)rm -rf $(O)/gen/context
	$(Q)$(JAVAC) -d $(O)/gen/context $(filter %.java,$^)
	$(Q)$(JDK)/bin/jar --create --file=$@.new --manifest=$(filter %manifest,$^) $(JAR_DATE) -C $(O)/gen/context .
	$(Q)mv -f $@.new $@

# The Java API with the library of this CPU inside. JAR_LIBRARIES: a folder with those of others, as
# linux-arm64/libjstrobe.so.
JAR_LIBRARIES ?=
JAR_CPU := $(or $(patsubst x86_64,x64,$(filter x86_64,$(ARCH))),$(patsubst aarch64,arm64,$(filter aarch64,$(ARCH))),\
  $(patsubst arm,arm32,$(filter arm,$(ARCH))),$(patsubst i386,x86,$(filter i386,$(ARCH))),$(ARCH))
API_JAVA := $(shell find java/api -name '*.java' | LC_ALL=C sort) java/api/manifest
$(API_JAR): $(API_JAVA) $(LIB) scripts/generated.mk | $(O)/lib/
	$(call say,JAR,$@)
	$(Q)rm -rf $(O)/gen/api
	$(Q)$(JAVAC) -d $(O)/gen/api $(filter %.java,$^)
	$(Q)mkdir -p $(O)/gen/api/jstrobe/linux-$(JAR_CPU) && cp $(LIB) $(O)/gen/api/jstrobe/linux-$(JAR_CPU)/libjstrobe.so
	$(Q)$(if $(JAR_LIBRARIES),cp -r $(JAR_LIBRARIES)/. $(O)/gen/api/jstrobe/)
	$(Q)$(JDK)/bin/jar --create --file=$@.new --manifest=$(filter %manifest,$^) $(JAR_DATE) -C $(O)/gen/api .
	$(Q)mv -f $@.new $@
