# SPDX-License-Identifier: GPL-2.0-only
# Manual pages and completions with the options and keys of tables of settings:
# NAME.in becomes .output/texts/NAME.
texts_programs := texts_controller texts_dartd texts_members
programs += $(if $(foreign),,$(texts_programs))
texts_controller_sources = tools/texts/main.c $(controller_settings)
texts_controller_libraries := dart
texts_controller_packages := nettle re2
texts_dartd_sources := tools/texts/main.c agent/options.c
texts_dartd_libraries := dart
texts_members_sources := tools/texts/main.c tools/members/options.c
texts_members_libraries := dart

# They run while the build does: a cross compiler's output takes those of this machine.
texts_programs_in := .output/bin
ifneq ($(foreign),)
$(texts_programs:%=$(texts_programs_in)/%): programs_of_this_machine
programs_of_this_machine:
	+$(quiet)$(MAKE) --no-print-directory ARCH= KDIR= $(texts_programs:%=$(texts_programs_in)/%)
.PHONY: programs_of_this_machine
endif

# templates NAME, FILES: the program texts_NAME completes these files
define templates
texts += $(patsubst %.in,$(output)/texts/%,$(notdir $(2)))
$(patsubst %.in,$(output)/texts/%,$(notdir $(2))): $(output)/texts/%: \
		$(dir $(firstword $(2)))%.in $(texts_programs_in)/texts_$(1)
	$$(quiet)mkdir -p $$(@D)
	$$(call say,TEXT,$$@)$(texts_programs_in)/texts_$(1) $$< > $$@
endef
$(eval $(call templates,controller,$(wildcard tools/controller/*.in)))
$(eval $(call templates,dartd,$(wildcard agent/*.in)))
$(eval $(call templates,members,$(wildcard tools/members/*.in)))
