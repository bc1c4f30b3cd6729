# generated.mk - sources that the build writes itself, under $(O)/gen/.

PAGE_JS := web/data.js web/views.js web/graph.js web/tables.js web/main.js

$(O)/gen/page_template.h: scripts/embed.awk scripts/generated.mk web/flame.html web/flame.css $(PAGE_JS) | $(O)/gen/
	$(call say,GEN,$@)
	$(Q)awk -f scripts/embed.awk -v css=web/flame.css -v js='$(PAGE_JS)' web/flame.html > $@.new && mv -f $@.new $@

GENERATED += $(O)/gen/page_template.h
