# SPDX-License-Identifier: GPL-2.0-only
# P4 programs: .output/p4/dart.json for simple_switch. The compiler is not in
# Debian (see README.md); nothing else here needs it.

P4C_BM2 ?= p4c-bm2-ss

$(output)/p4/dart.json: p4/v1model/dart.p4 $(wildcard p4/shared/*.p4 \
		p4/v1model/*.p4) uapi/dart/store.h
	$(quiet)command -v $(P4C_BM2) > /dev/null || { \
		echo "make: $(P4C_BM2) is missing: see 'P4' in README.md" >&2; \
		exit 1; }
	$(quiet)mkdir -p $(@D)
	$(call say,P4,$<)$(P4C_BM2) --std p4-16 --Werror -Iuapi -o $@ $<

.PHONY: p4
p4: $(output)/p4/dart.json
