# SPDX-License-Identifier: GPL-2.0-only
# Manual pages and completions with the options and keys of tables of settings:
# NAME.in becomes .output/texts/NAME.
programs += texts_controller
texts_controller_sources = tools/texts/main.c $(controller_settings)
texts_controller_libraries := dart
texts_controller_packages := jansson yaml-0.1 libibverbs librdmacm gnutls

texts += $(patsubst %.in,$(output)/texts/%,$(notdir $(wildcard \
	tools/controller/dart-controller.*.in)))

$(output)/texts/dart-controller.%: tools/controller/dart-controller.%.in \
		$(output)/bin/texts_controller
	$(quiet)mkdir -p $(@D)
	$(call say,TEXT,$@)$(output)/bin/texts_controller $< > $@
