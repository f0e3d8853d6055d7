# SPDX-License-Identifier: GPL-2.0-only
# dart-controller: reads metrics from the memory of hosts.
programs += dart-controller
dart-controller_sources := $(wildcard tools/controller/*.c tools/controller/*/*.c \
	tools/controller/*/*/*.c tools/controller/relabel/*.cc tools/doctor/*.c tools/watch/*.c)
dart-controller_libraries := dart
dart-controller_packages := libsystemd jansson yaml-0.1 smartcols libibverbs \
	librdmacm libxxhash liburcu libcurl libmicrohttpd libresolv libzstd snappy zlib nettle re2

controller_base := $(filter-out %/gzip.c %/request_headers.c %/url.c,\
	$(wildcard tools/controller/base/*.c))
controller_relabel := $(wildcard tools/controller/relabel/*.c tools/controller/relabel/*.cc)
controller_settings := $(wildcard tools/controller/settings/*.c) \
	$(controller_relabel) $(addprefix tools/controller/base/, arena.c http_address.c)

unit_controller_options_sources := $(controller_settings)
unit_controller_config_sources := $(controller_settings)
unit_controller_shard_sources := tools/controller/settings/shard.c
unit_controller_membership_sources := $(unit_controller_shard_sources)
unit_controller_members_file_sources := $(unit_controller_shard_sources) \
	tools/controller/discovery/members_file.c
unit_controller_credit_sources := tools/controller/flow/credit.c
unit_controller_groups_sources := $(addprefix tools/controller/flow/, credit.c \
	credit_groups.c)
unit_controller_flow_sources := $(addprefix tools/controller/, flow/capacity.c \
	flow/credit.c flow/credit_groups.c flow/credit_pool.c flow/flow.c \
	base/interface.c base/timers.c base/wheel.c)
unit_controller_pool_sources := $(addprefix tools/controller/, flow/capacity.c \
	flow/credit.c flow/credit_groups.c flow/credit_pool.c flow/flow.c \
	base/interface.c io/io_thread.c base/mailbox.c base/timers.c \
	base/wheel.c base/queue.c decode/workers.c)
unit_controller_unreached_sources := $(addprefix tools/controller/, settings/shard.c \
	fleet/target_down.c fleet/unreached.c base/timers.c base/wheel.c)
unit_controller_handshakes_sources := tools/controller/fleet/handshakes.c \
	$(addprefix tools/controller/base/, timers.c wheel.c)
unit_controller_capacity_sources := tools/controller/flow/capacity.c
unit_controller_resolver_sources := tools/controller/fleet/resolver.c
threaded_tests += controller_resolver
unit_controller_interface_sources := tools/controller/base/interface.c
unit_controller_wheel_sources := tools/controller/base/wheel.c
unit_controller_latency_sources := tools/controller/base/latency.c
unit_controller_scraper_sources := $(addprefix tools/controller/, \
	decode/budget.c decode/catalog.c decode/content.c \
	decode/scraper.c decode/shared_schema.c) $(controller_settings)
unit_controller_host_clock_sources := tools/controller/decode/host_clock.c
unit_controller_content_sources := tools/controller/decode/content.c
unit_controller_catalog_sources := $(unit_controller_scraper_sources)
unit_controller_catalog_differences_sources := $(unit_controller_scraper_sources)
unit_controller_workers_sources := $(wildcard tools/controller/decode/*.c) \
	$(addprefix tools/controller/base/, latency.c queue.c) \
	$(controller_settings)
# All that scrapes, without the program around it.
controller_scraping := $(unit_controller_workers_sources) $(controller_base) \
	$(wildcard tools/controller/fleet/target*.c \
	tools/controller/flow/credit*.c) $(addprefix tools/controller/, \
	flow/capacity.c fleet/clock_messages.c fleet/fetch.c flow/flow.c \
	fleet/handshakes.c base/interface.c fleet/resolver.c outputs/output.c \
	outputs/output_figures.c) $(wildcard tools/controller/io/*.c \
	tools/controller/transport/*.c)
unit_controller_targets_sources := $(controller_scraping) $(simulated)
unit_controller_teams_sources := $(controller_scraping) $(simulated)
threaded_tests += controller_teams
unit_controller_mirror_sources := $(controller_scraping) $(simulated)
unit_controller_addresses_sources := $(controller_scraping) $(simulated)
unit_controller_restless_sources := $(controller_scraping) $(simulated)
unit_controller_outputs_sources := $(addprefix tools/controller/, base/queue.c \
	outputs/output.c outputs/output_figures.c)
unit_controller_sinks_sources := $(unit_controller_workers_sources) \
	$(wildcard tools/controller/outputs/*.c)
# The recorder and the reader, without what replays.
controller_record := $(addprefix tools/controller/, record/block.c \
	record/chunk.c record/played.c record/reader.c record/record.c \
	record/record_file.c record/recorder.c record/recorder_thread.c)
unit_controller_record_sources := $(controller_record) \
	$(unit_controller_workers_sources) tools/controller/outputs/output.c tools/controller/outputs/output_figures.c
unit_controller_replay_sources := $(unit_controller_record_sources) \
	$(addprefix tools/controller/, record/replay.c record/replay_files.c \
	record/replay_targets.c base/timers.c base/wheel.c)
unit_controller_target_list_sources := $(controller_settings) \
	tools/controller/discovery/target_list.c
unit_equal_labels_sources := $(unit_controller_target_list_sources) \
	tools/controller/discovery/equal_labels.c
unit_controller_target_set_sources := $(unit_controller_target_list_sources) \
	tools/controller/discovery/target_set.c
unit_controller_sd_json_sources := $(unit_controller_target_list_sources) \
	$(addprefix tools/controller/discovery/, sd_json.c target_relabel.c)
unit_target_relabel_sources := $(unit_controller_sd_json_sources)
unit_controller_srv_answer_sources := $(unit_controller_target_list_sources) \
	$(addprefix tools/controller/discovery/, srv_answer.c target_relabel.c)
unit_controller_discovery_sources := $(controller_settings) \
	$(filter-out %/target_set.c,$(wildcard tools/controller/discovery/*.c)) \
	tools/controller/base/url.c tools/controller/base/secret.c \
	tools/controller/base/request_headers.c \
	tools/watch/path_watch.c
unit_controller_members_sources := $(unit_controller_discovery_sources)
unit_controller_http_sd_sources := $(unit_controller_discovery_sources)
unit_controller_call_sources := $(unit_serve_tcp_sources) \
	$(controller_settings) $(wildcard $(addprefix tools/controller/, \
	base/*.c decode/*.c fleet/clock_messages.c fleet/fetch.c \
	fleet/handshakes.c fleet/resolver.c fleet/target*.c flow/*.c io/*.c \
	outputs/output.c outputs/output_figures.c transport/*.c))
controller_http := $(wildcard tools/controller/http/*.c) \
	tools/controller/base/gzip.c tools/controller/base/http_address.c \
	tools/controller/settings/http_settings.c
unit_controller_http_server_sources := $(controller_http)
unit_controller_http_streams_sources := $(controller_http)
unit_controller_http_hostile_sources := $(controller_http)
unit_cut_readers_sources := $(addprefix tools/controller/, base/queue.c \
	exposition/cut_readers.c outputs/output.c \
	outputs/output_figures.c)
unit_controller_editions_sources := $(controller_http) \
	tools/bench/invented_metrics.c $(unit_cut_readers_sources) $(addprefix tools/controller/, \
	base/number_text.c exposition/edition.c exposition/edition_maker.c exposition/editions.c $(addprefix metrics/text/, text.c text_index.c \
	text_writer.c))
threaded_tests += controller_editions
controller_metrics := $(wildcard tools/controller/metrics/*.c tools/controller/metrics/*/*.c) \
	$(controller_relabel) \
	$(addprefix tools/controller/, base/arena.c base/number_text.c settings/labels.c)
unit_relabel_rules_sources := $(controller_relabel) tools/controller/base/arena.c
unit_metric_relabel_sources = $(unit_metric_sinks_sources)
helpers/relabel_series_sources := $(controller_metrics)
unit_metric_names_sources := $(controller_metrics)
unit_metric_cpus_sources := $(controller_metrics)
unit_metric_plan_sources := $(controller_metrics)
unit_metric_rows_sources := $(controller_metrics)
unit_metric_values_sources := $(controller_metrics)
unit_metric_scale_sources := $(controller_metrics)
unit_metric_plan_store_sources := $(controller_metrics)
unit_metric_limits_sources = $(unit_metric_sinks_sources)
unit_metric_sinks_sources := $(controller_metrics) \
	tools/controller/outputs/sink_all.c
unit_exposition_sources := $(controller_metrics) $(controller_http) $(wildcard \
	tools/controller/exposition/*.c) $(addprefix \
	tools/controller/, base/queue.c outputs/output.c \
	outputs/output_figures.c outputs/output_list.c settings/shard.c)
unit_controller_dump_sources := $(controller_metrics) $(addprefix \
	tools/controller/, record/dump_openmetrics.c record/series_list.c \
	record/spill.c base/queue.c outputs/output.c \
	outputs/output_figures.c)
unit_metric_text_sources := $(controller_metrics)
unit_label_collisions_sources := $(controller_metrics)
# The page, without what scrapes.
controller_web := $(wildcard tools/controller/web/*.c) $(controller_http) \
	tools/controller/base/queue.c tools/controller/metrics/text/text_index.c \
	tools/controller/outputs/output.c tools/controller/outputs/output_figures.c
web_history := $(addprefix tools/controller/web/, history.c history_chunk.c \
	history_open.c time_column.c value_column.c)
unit_controller_history_sources := $(web_history)
unit_controller_history_query_sources := $(web_history) $(addprefix tools/controller/web/, \
	history_query.c json_text.c selection.c tracker.c) \
	tools/controller/metrics/text/text_index.c
unit_controller_movers_sources := $(web_history) $(addprefix tools/controller/web/, \
	json_text.c movers.c selection.c)
unit_controller_json_text_sources := tools/controller/web/json_text.c
unit_controller_web_sources := $(controller_web)
unit_controller_lookup_sources := tools/controller/web/lookup.c
threaded_tests += controller_web controller_lookup
# Files that web_files.c includes without the compiler's knowledge.
web_page := $(wildcard tools/controller/web/page/*)
$(foreach in,obj sanitized tsan/obj helgrind/obj,\
	$(output)/$(in)/tools/controller/web/web_files.o): $(web_page)
unit_controller_call_late_sources := $(unit_controller_call_sources)
threaded_tests += controller_call controller_call_late controller_pool controller_workers controller_outputs \
	controller_sinks controller_discovery controller_members controller_catalog controller_http_server controller_http_streams \
	controller_http_hostile \
	metric_plan_store metric_sinks controller_record controller_replay

# Outputs that push.
controller_formats := $(wildcard tools/controller/push/formats/*.c) \
	$(controller_relabel) $(addprefix tools/controller/, base/arena.c base/gzip.c \
	base/number_text.c metrics/labels/label_collisions.c metrics/labels/label_sets.c \
	metrics/labels/target_labels.c metrics/text/text_index.c settings/labels.c)
controller_push := $(controller_formats) $(wildcard tools/controller/push/*.c \
	tools/controller/push/queue/*.c) $(controller_settings) $(addprefix \
	tools/controller/, base/url.c base/queue.c base/secret.c base/request_headers.c \
	outputs/output.c outputs/output_figures.c)
unit_push_answer_sources := $(controller_formats) tools/controller/base/url.c
unit_push_formats_sources := $(sort $(controller_formats) $(controller_settings))
unit_push_config_sources := $(controller_settings)
unit_push_messages_sources := $(controller_push)
unit_push_otlp_sources := $(controller_push)
unit_push_otlp_answers_sources := $(controller_formats)
unit_push_series_sources := $(controller_push)
unit_push_reloads_sources := $(controller_push)
unit_push_rate_limit_sources := $(controller_push)
unit_push_thin_sources := $(controller_push)
unit_push_relabel_sources = $(sort $(controller_push) $(controller_metrics))
unit_push_spool_sources := $(controller_formats) $(addprefix tools/controller/push/queue/, \
	backlog.c record.c segment.c spool.c)
unit_push_spool_limits_sources := $(unit_push_spool_sources)
unit_push_sending_sources := $(controller_push) tools/bench/invented_metrics.c
unit_push_refused_sources := $(unit_push_sending_sources)
unit_push_figures_sources := $(unit_push_sending_sources) tools/controller/outputs/output_list.c
unit_push_parallel_sources := $(unit_push_sending_sources)
unit_push_pieces_sources := $(controller_push)
threaded_tests += push_figures push_parallel push_refused push_sending
