# SPDX-License-Identifier: GPL-2.0-only
# dartctl: tells dartd what to expose.
programs += dartctl
dartctl_sources := $(wildcard tools/dartctl/*.c tools/dartctl/*/*.c \
	tools/doctor/*.c tools/watch/*.c)
dartctl_libraries := dart
dartctl_packages := jansson libbpf libibverbs libsystemd smartcols gnutls
dartctl_skeletons := xdp_reporter

unit_switch_steps_sources := $(addprefix tools/dartctl/switch/, \
	steps.c state.c numbers.c entry.c)
unit_switch_walk_sources := $(unit_switch_steps_sources)
unit_lookup_steps_sources := $(addprefix tools/dartctl/switch/, \
	lookup_steps.c lookup_state.c numbers.c entry.c)
unit_lookup_cache_sources := $(addprefix tools/dartctl/switch/, \
	lookup_cache.c lookup_cached.c tea_cache.c)
unit_lookup_walk_sources := $(unit_lookup_steps_sources)
unit_switch_program_sources := $(addprefix tools/dartctl/switch/, \
	program.c report_program.c state.c numbers.c entry.c)
unit_switch_thrift_sources := $(addprefix tools/dartctl/switch/, bmv2.c \
	bmv2_group.c bmv2_read.c bmv2_register.c bmv2_table.c entry.c \
	numbers.c program.c report_program.c state.c thrift.c thrift_wire.c \
	thrift_wire_error.c)
unit_export_watch_sources := tools/watch/path_watch.c $(addprefix \
	tools/dartctl/cli/, export_watch.c file_replace.c message.c version.c)
unit_registered_sources := tools/dartctl/host/registered.c
unit_nft_ruleset_sources := tools/doctor/nft_ruleset.c

# Entries of tables from and into text.
tea_parsing := $(addprefix tools/dartctl/lookup/, tea_csv.c tea_json.c \
	tea_json_cursor.c tea_layout.c tea_text.c)
unit_tea_parser_sources := $(tea_parsing) $(addprefix tools/dartctl/lookup/, \
	tea_input.c tea_printer.c tea_text_print.c)
unit_tea_entry_sources := $(addprefix tools/dartctl/, cli/message.c \
	lookup/tea_entry.c lookup/tea_layout.c lookup/tea_text.c)
unit_tea_cache_sources := tools/dartctl/switch/tea_cache.c
unit_switch_publisher_sources = $(unit_switch_digests_sources)
unit_switch_digests_sources := $(addprefix tools/dartctl/switch/, digests.c \
	publisher.c thrift.c thrift_wire.c thrift_wire_error.c)
