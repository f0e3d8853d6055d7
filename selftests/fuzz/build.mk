# SPDX-License-Identifier: GPL-2.0-only
# For each harness NAME.c: other files that it needs, besides libdart, and the files of
# its parser, whose coverage make fuzz prints.
fuzz_answer_sources = $(controller_formats) tools/controller/base/url.c
fuzz_answer_parsers := $(addprefix tools/controller/, base/url.c \
	push/formats/answer.c push/formats/otlp_read.c)
fuzz_application_description_parsers := $(addprefix tools/lib/dart/application/, \
	description.c document.c location.c)
fuzz_application_formats_parsers := $(addprefix tools/lib/dart/application/, \
	described.c entry.c hsperfdata.c mmv.c varnish.c)
fuzz_application_image_sources := agent/application/elf_image.c
fuzz_application_image_parsers := $(fuzz_application_image_sources)
fuzz_application_layout_sources := $(addprefix agent/application/, \
	elf_image.c process.c proc_files.c reader.c)
fuzz_application_layout_parsers := agent/application/reader.c \
	$(addprefix tools/lib/dart/application/, document.c layout.c location.c)
fuzz_collectors_parsers := tools/lib/dart/report/collectors.c
fuzz_configuration_parsers := tools/lib/dart/yaml_file.c \
	$(addprefix tools/lib/dart/configuration/configuration, _items.c \
	_journals.c _ledgers.c _load.c _loader.c _settings.c _sketches.c _stores.c) \
	$(wildcard tools/lib/dart/settings/*.c)
fuzz_connect_request_sources := agent/base/mirror.c agent/rdma/connect_request.c
fuzz_connect_request_parsers := $(fuzz_connect_request_sources) \
	tools/lib/dart/rdma/rejection.c
fuzz_control_region_parsers := $(addprefix tools/lib/dart/, \
	table/table_outline.c rdma/read_plan.c table/table_check.c \
	table/table_decode.c table/value_json.c table/value_print.c)
fuzz_controller_config_sources = $(controller_settings)
fuzz_controller_config_parsers = $(fuzz_controller_config_sources) \
	$(wildcard tools/lib/dart/settings/*.c) tools/lib/dart/yaml_file.c
fuzz_digests_sources := $(addprefix tools/dartctl/switch/thrift/, digests.c \
	publisher.c thrift.c wire.c)
fuzz_digests_parsers := $(addprefix tools/dartctl/switch/thrift/, digests.c \
	publisher.c)
fuzz_epoch_file_parsers := tools/lib/dart/store/epoch_file.c
fuzz_escape_parsers := tools/lib/dart/escape.c
fuzz_flows_balancer_sources = $(flows_balancer)
fuzz_flows_balancer_parsers := $(wildcard tools/flows/balancer/*.c tools/flows/connection/*.c \
	tools/flows/function/*.c)
fuzz_flows_firewall_sources = $(flows_firewall)
fuzz_flows_firewall_parsers := $(wildcard tools/flows/firewall/*.c tools/flows/connection/*.c \
	tools/flows/function/*.c)
fuzz_flows_nat_sources = $(flows_nat)
fuzz_flows_nat_parsers := $(wildcard tools/flows/nat/*.c tools/flows/function/*.c) \
	tools/flows/connection/connection.c
fuzz_flows_packet_sources = $(flows_packet) tools/flows/packet/question.c
fuzz_flows_packet_parsers = $(fuzz_flows_packet_sources)
fuzz_flows_policy_sources = $(flows_policy)
fuzz_flows_policy_parsers := $(wildcard tools/flows/settings/*.c)
fuzz_host_clock_sources := tools/controller/decode/host_clock.c
fuzz_host_clock_parsers := $(fuzz_host_clock_sources)
fuzz_http_request_sources := $(addprefix tools/controller/, \
	exposition/exposition_sd.c base/gzip.c http/http_access.c \
	settings/http_settings.c settings/labels.c \
	metrics/labels/label_collisions.c web/selection.c web/value_column.c)
fuzz_http_request_parsers := $(filter-out %/http_settings.c,$(fuzz_http_request_sources))
fuzz_http_texts_sources := $(addprefix tools/controller/, base/gzip.c \
	http/http_accept.c http/http_access.c base/http_address.c \
	http/http_head.c http/http_request.c)
fuzz_http_texts_parsers := $(addprefix tools/controller/, base/gzip.c \
	http/http_accept.c http/http_access.c http/http_head.c)
fuzz_int_packet_sources := tools/report/int_packet.c
fuzz_int_packet_parsers := $(fuzz_int_packet_sources) tools/lib/dart/report/translator.c
fuzz_journal_parsers := $(addprefix tools/lib/dart/journal/, journal.c journal_cursor.c \
	journal_reader.c)
fuzz_json_reader_sources := $(addprefix tools/dartctl/cli/, json_indent.c json_reader.c message.c)
fuzz_json_reader_parsers := $(addprefix tools/dartctl/cli/, json_indent.c json_reader.c)
fuzz_key_schema_parsers := $(addprefix tools/lib/dart/, yaml_file.c \
	key/key_schema.c key/key_schema_key.c \
	key/key_schema_load.c)
fuzz_ledger_adder_parsers := $(addprefix tools/lib/dart/report/, ledger_adder.c \
	ledger_target.c)
fuzz_members_file_sources := $(addprefix tools/controller/, discovery/members_file.c \
	settings/shard.c)
fuzz_members_file_parsers := tools/controller/discovery/members_file.c
fuzz_metric_names_sources = $(wildcard tools/controller/metrics/*.c \
	tools/controller/metrics/*/*.c) $(controller_relabel) $(addprefix tools/controller/, base/arena.c \
	base/number_text.c settings/labels.c)
fuzz_metric_names_parsers := $(addprefix tools/controller/metrics/names/, \
	names_family.c names_labels.c names_load.c names_series.c)
fuzz_metric_table_sources = $(fuzz_metric_names_sources)
fuzz_metric_table_parsers := $(addprefix tools/controller/metrics/, \
	plan/plan_generic.c plan/plan_named.c \
	plan/points.c plan/row_watch.c text/text.c)
fuzz_preload_layout_sources := tools/lib/zero/preload_layout.c
fuzz_preload_layout_parsers := $(fuzz_preload_layout_sources)
fuzz_recording_sources = $(controller_settings) $(addprefix tools/controller/, \
	decode/budget.c decode/catalog.c decode/content.c decode/ring.c \
	decode/scraper.c decode/shared_schema.c record/chunk.c \
	record/played.c record/reader.c record/record.c)
fuzz_recording_parsers := $(addprefix tools/controller/record/, \
	chunk.c played.c reader.c record.c)
fuzz_request_sources := $(addprefix agent/, base/changes.c base/entry_name.c \
	base/lone_thread.c base/log.c base/reply_text.c base/request.c schema/schema_json.c \
	socket/client.c socket/client_wait.c socket/dispatch.c socket/passed.c \
	socket/request_rate.c)
fuzz_request_parsers := $(addprefix agent/, base/request.c \
	schema/schema_json.c socket/client.c socket/dispatch.c)
fuzz_roce_frame_sources := selftests/lib/roce_frame_parse.c
fuzz_roce_frame_parsers := $(fuzz_roce_frame_sources) \
	tools/lib/dart/report/roce_frame.c
fuzz_rpc_sources := $(addprefix agent/, base/log.c serve/session.c serve/snapshot.c \
	table/generations.c table/live.c table/values.c)
fuzz_rpc_parsers := $(addprefix agent/, serve/session.c table/values.c) \
	$(addprefix tools/lib/dart/rpc/, lookups.c message.c)
fuzz_schema_json_sources := agent/schema/schema_json.c
fuzz_schema_json_parsers := $(fuzz_schema_json_sources) \
	tools/lib/dart/table/schema.c
fuzz_sd_json_sources = $(controller_settings) $(addprefix tools/controller/, \
	discovery/sd_json.c discovery/target_list.c discovery/target_relabel.c \
	exposition/exposition_sd.c \
	metrics/labels/label_collisions.c)
fuzz_sd_json_parsers := $(addprefix tools/controller/, \
	exposition/exposition_sd.c settings/labels.c \
	metrics/labels/label_collisions.c discovery/sd_json.c \
	discovery/target_list.c discovery/target_relabel.c)
fuzz_shares_parsers := $(addprefix tools/lib/dart/store/, share_history.c share_set.c)
fuzz_sketch_parsers := $(addprefix tools/lib/dart/sketch/, sketch.c sketch_merge.c \
	sketch_reader.c)
fuzz_spool_sources = $(controller_formats) $(addprefix tools/controller/push/queue/, \
	record.c segment.c spool.c)
fuzz_spool_parsers = $(filter tools/controller/push/%, $(fuzz_spool_sources))
fuzz_srv_answer_sources = $(controller_settings) \
	$(addprefix tools/controller/discovery/, srv_answer.c target_list.c target_relabel.c)
fuzz_srv_answer_parsers := $(addprefix tools/controller/discovery/, \
	srv_answer.c target_list.c)
fuzz_state_file_sources := $(addprefix agent/registration/, \
	registration.c state_file.c)
fuzz_state_file_parsers := $(fuzz_state_file_sources)
fuzz_tables_parsers := $(addprefix tools/lib/dart/tea/tea_tables,.c _server.c)
fuzz_tea_import_sources = $(tea_parsing) $(addprefix tools/dartctl/lookup/, \
	printer.c)
fuzz_tea_import_parsers = $(tea_parsing)
fuzz_tea_table_parsers := $(addprefix tools/lib/dart/tea/tea_, lookup.c \
	lookup_walk.c table_resume.c)
fuzz_telemetry_parsers := bpf/flow_key.h bpf/int_md.h bpf/postcard.h \
	bpf/telemetry.h
fuzz_thrift_sources = $(switch_steps) $(switch_thrift) $(switch_reports) \
	$(switch_lookups) $(addprefix tools/dartctl/switch/engine/, live.c show.c)
fuzz_thrift_parsers := $(addprefix tools/dartctl/switch/, bmv2/group.c \
	bmv2/program.c bmv2/register.c bmv2/table.c lookups/kind.c \
	lookups/program.c reports/kind.c thrift/thrift.c)
