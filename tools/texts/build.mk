# SPDX-License-Identifier: GPL-2.0-only
# Manual pages and completions with the options and keys of tables of settings:
# NAME.in becomes .output/texts/NAME.
programs += texts_controller texts_dartd
texts_controller_sources = tools/texts/main.c $(controller_settings)
texts_controller_libraries := dart
texts_dartd_sources := tools/texts/main.c agent/options.c
texts_dartd_libraries := dart

# templates NAME, FILES: the program texts_NAME completes these files
define templates
texts += $(patsubst %.in,$(output)/texts/%,$(notdir $(2)))
$(patsubst %.in,$(output)/texts/%,$(notdir $(2))): $(output)/texts/%: \
		$(dir $(firstword $(2)))%.in $(output)/bin/texts_$(1)
	$$(quiet)mkdir -p $$(@D)
	$$(call say,TEXT,$$@)$(output)/bin/texts_$(1) $$< > $$@
endef
$(eval $(call templates,controller,$(wildcard tools/controller/*.in)))
$(eval $(call templates,dartd,$(wildcard agent/*.in)))
