# SPDX-License-Identifier: GPL-2.0-only
# dartctl: tells dartd what to expose.
programs += dartctl dartctl-tls
dartctl_tls := $(wildcard tools/dartctl/tls/*.c tools/dartctl/doctor/*.c tools/doctor/*.c)
dartctl_sources := $(filter-out $(dartctl_tls),$(wildcard tools/dartctl/*.c tools/dartctl/*/*.c \
	tools/dartctl/*/*/*.c tools/watch/*.c))
dartctl_libraries := dart
dartctl_packages := jansson libbpf libdw libelf libibverbs
dartctl-tls_sources := $(dartctl_tls) $(addprefix tools/dartctl/cli/, client.c command.c \
	elsewhere.c file.c json_indent.c json_reader.c message.c options.c reply.c table.c)
dartctl-tls_libraries := dart
dartctl-tls_packages := jansson libibverbs gnutls
dartctl_skeletons := xdp_reporter

# Pushes to switches, without and with Thrift.
switch_messages := $(addprefix tools/dartctl/cli/, message.c options.c)
switch_steps := $(addprefix tools/dartctl/switch/, bmv2/entry.c engine/hosts.c \
	engine/steps.c) $(switch_messages)
switch_thrift := $(addprefix tools/dartctl/switch/, bmv2/group.c \
	bmv2/program.c bmv2/register.c bmv2/table.c thrift/thrift.c)
switch_reports := $(addprefix tools/dartctl/switch/reports/, kind.c state.c status.c \
	steps.c)
switch_lookups := $(addprefix tools/dartctl/switch/lookups/, kind.c program.c \
	state.c steps.c wish.c)
unit_reply_sources := $(addprefix tools/dartctl/cli/, json_indent.c json_reader.c message.c \
	reply.c table.c)
unit_instant_sources := tools/dartctl/store/instant.c
unit_epochs_asked_sources := tools/dartctl/store/epochs.c
unit_query_owners_sources := tools/dartctl/store/query_owners.c
unit_epochs_there_sources := $(addprefix tools/dartctl/store/, epochs_question.c epochs_there.c)
unit_switch_steps_sources := $(switch_steps) $(addprefix \
	tools/dartctl/switch/reports/, state.c steps.c)
unit_switch_walk_sources := $(unit_switch_steps_sources)
unit_ledger_steps_sources := $(switch_steps) tools/dartctl/switch/ledgers/state.c
unit_journal_steps_sources := $(switch_steps) tools/dartctl/switch/journals/state.c
unit_sketch_steps_sources := $(switch_steps) tools/dartctl/switch/sketches/state.c
unit_merge_steps_sources := $(switch_steps) tools/dartctl/switch/sketches/merge_state.c
unit_lookup_steps_sources := $(switch_steps) $(addprefix \
	tools/dartctl/switch/lookups/, state.c steps.c wish.c)
unit_lookup_walk_sources := $(unit_lookup_steps_sources)
unit_lookup_renewals_sources := $(switch_steps) $(switch_thrift) $(switch_lookups) \
	$(addprefix tools/dartctl/switch/, engine/live.c engine/show.c lookups/renewals.c \
	thrift/wire.c)
# The simulated network is known later: see tools/bench.
unit_lookup_cache_sources = $(switch_steps) $(switch_thrift) $(switch_lookups) \
	$(simulated) $(addprefix tools/dartctl/switch/, cache/cache.c \
	cache/cached.c cache/keys.c cache/readers.c thrift/digests.c \
	thrift/publisher.c thrift/wire.c)
unit_switch_program_sources := $(switch_steps) $(switch_thrift) \
	$(switch_reports) tools/dartctl/switch/thrift/wire.c
unit_switch_thrift_sources := $(unit_switch_program_sources) $(addprefix \
	tools/dartctl/, switch/engine/live.c \
	switch/engine/show.c)
unit_export_watch_sources := tools/watch/path_watch.c $(addprefix \
	tools/dartctl/cli/, export_watch.c file.c message.c)
unit_registered_sources := tools/dartctl/host/registered.c
unit_nft_ruleset_sources := tools/doctor/nft_ruleset.c
unit_certificate_validity_sources := $(addprefix tools/doctor/, certificate.c findings.c)

# Entries of tables from and into text.
tea_parsing := $(addprefix tools/dartctl/lookup/, csv.c json.c \
	layout.c text.c)
unit_tea_parser_sources := $(tea_parsing) $(addprefix tools/dartctl/lookup/, \
	input.c printer.c)
unit_tea_entry_sources := $(addprefix tools/dartctl/, cli/message.c \
	lookup/entry.c lookup/layout.c lookup/text.c)
unit_tea_cache_sources := tools/dartctl/switch/cache/keys.c
unit_switch_publisher_sources = $(unit_switch_digests_sources)
unit_switch_digests_sources := $(addprefix tools/dartctl/switch/thrift/, \
	digests.c publisher.c thrift.c wire.c)
unit_application_types_sources := $(addprefix tools/dartctl/application/, \
	binary.c expression.c types.c types_btf.c types_dwarf.c)
