# SPDX-License-Identifier: GPL-2.0-only
# P4 programs: .output/p4/dart.json, translator.json, ledger.json, journal.json, sketch.json, and
# one for each network function with lookup tables, for simple_switch. Debian lacks the compiler (see
# README.md); no other part of the build needs it.

P4C_BM2 ?= p4c-bm2-ss
functions := nat nat6 balancer firewall firewall6 gateway gateway6
bmv2 := $(patsubst %,$(output)/p4/%.json,dart translator ledger journal sketch merger $(functions))

$(bmv2): $(output)/p4/%.json: p4/v1model/%.p4 $(wildcard p4/functions/*.p4 \
		p4/shared/*.p4 p4/shared/*/*.p4 p4/v1model/*.p4 \
		p4/v1model/*/*.p4) $(addprefix uapi/dart/,store.h postcard.h ledger.h journal.h \
		sketch.h tea.h tea_sketch.h tea_use.h)
	$(quiet)command -v $(P4C_BM2) > /dev/null || { \
		echo "make: $(P4C_BM2) is missing: see 'P4' in README.md" >&2; \
		exit 1; }
	$(quiet)mkdir -p $(@D)
	$(call say,P4,$<)$(P4C_BM2) --std p4-16 --Werror -Iuapi -Ip4 -Ip4/v1model \
		-o $@ $<

# For tests of p4/shared/rdma alone.
$(output)/p4/queue_pair.json: selftests/p4/queue_pair.p4 $(wildcard \
		p4/shared/*.p4 p4/shared/rdma/*.p4 p4/v1model/rdma/*.p4) \
		uapi/dart/tea.h
	$(quiet)mkdir -p $(@D)
	$(call say,P4,$<)$(P4C_BM2) --std p4-16 --Werror -Iuapi -Ip4 -o $@ $<

.PHONY: p4
ifneq ($(TARGET),tna)
p4: $(bmv2) $(output)/p4/queue_pair.json
else

# For Tofino: p4c's back end compiles, assembles and measures the programs. Without
# that back end, p4test checks them, if it finds the header of the architecture in
# TNA_INCLUDE or where p4c installs it.
P4C_TNA ?= p4c-barefoot
BFAS ?= bfas
P4TEST ?= p4test
p4test_directory := $(dir $(realpath $(shell command -v $(P4TEST))))
TNA_INCLUDE := $(or $(TNA_INCLUDE),\
	$(p4test_directory)../share/p4c/p4include)

tna_programs := dart journal ledger nat balancer
tna_sources := $(wildcard p4/shared/*.p4 p4/shared/*/*.p4 p4/tna/*.p4 p4/tna/*/*.p4) \
	$(addprefix uapi/dart/,store.h journal.h ledger.h tea.h tea_sketch.h)
tna := $(tna_programs:%=$(output)/p4/tna/%/pipeline/tofino.bin)
tna_checked := $(tna_programs:%=$(output)/p4/tna/%.checked)
# Variables that a program for Tofino does not set are 0.
tna_flags := --std p4-16 -D__TARGET_TOFINO__=1 -Iuapi -Ip4 \
	--Wdisable=uninitialized-out-param --Wdisable=uninitialized-use

$(tna): $(output)/p4/tna/%/pipeline/tofino.bin: p4/tna/%.p4 $(tna_sources)
	$(quiet)mkdir -p $(output)/p4/tna
	$(call say,P4,$<)$(P4C_TNA) --target tofino --arch tna -g $(tna_flags) \
		$(addprefix -I,$(wildcard $(TNA_INCLUDE))) -o $(output)/p4/tna/$* $<
	$(call say,BFAS,$@)$(BFAS) -o $(@D) $(@D)/$*.bfa

$(tna_checked): $(output)/p4/tna/%.checked: p4/tna/%.p4 $(tna_sources)
	$(quiet)mkdir -p $(@D)
	$(call say,P4TEST,$<)$(P4TEST) $(tna_flags) -I$(TNA_INCLUDE) --Werror $<
	$(quiet)touch $@

ifneq ($(shell command -v $(P4C_TNA)),)
p4: $(tna)
	$(quiet)p4/tna/resources $(^D:%=%/logs/resources.json)
else ifneq ($(wildcard $(TNA_INCLUDE)/tna.p4),)
p4: $(tna_checked)
	$(quiet)echo "make: $(P4C_TNA) is missing: the programs were only checked" >&2
else
p4:
	$(quiet)echo "make: neither $(P4C_TNA) nor p4test with tna.p4 in" \
		"$(TNA_INCLUDE): see 'P4' in README.md" >&2; exit 1
endif
endif
