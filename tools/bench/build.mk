# SPDX-License-Identifier: GPL-2.0-only
# References for measurements.
programs += bare_read local_read
bare_read_sources := tools/bench/bare_read.c tools/bench/timing.c
bare_read_libraries := dart
bare_read_packages := jansson libibverbs librdmacm libxxhash
local_read_sources := tools/bench/local_read.c tools/bench/timing.c
local_read_packages := libsystemd

# Redis, asked by a client.
programs += redis_info
redis_info_sources := tools/bench/redis_info.c tools/bench/timing.c
redis_info_packages := libsystemd

# The gathering of many cgroups.
programs += cgroup_passes
cgroup_passes_sources := tools/bench/cgroup_passes.c

# Stores, without a network.
programs += store_speed
store_speed_sources := $(addprefix tools/bench/, store_speed.c store_keys.c zipf.c) $(in_memory)
store_speed_libraries := dart

# Lookup tables, without a network.
programs += tea_fill
tea_fill_sources := tools/bench/tea_fill.c tools/bench/memory.c
tea_fill_libraries := dart

# Entries of lookup tables, from text; the parser is known later: see there.
programs += tea_import_speed
tea_import_speed_sources = tools/bench/tea_import_speed.c tools/bench/memory.c \
	tools/dartctl/lookup/input.c $(tea_parsing)
tea_import_speed_libraries := dart
tea_import_speed_packages := jansson yaml-0.1

# Flows in use, without a switch; the lists are known later: see there.
programs += flows_ageing_speed
flows_ageing_speed_sources = tools/bench/flows_ageing_speed.c \
	$(addprefix tools/flows/packet/,port.c question.c) $(flows_nat)
flows_ageing_speed_libraries := dart
flows_ageing_speed_packages := libsystemd libxxhash yaml-0.1

# The XDP reporter, compared with XDP_TX.
programs += program_run
program_run_sources := tools/bench/program_run.c tools/report/int_packet.c
program_run_libraries := dart
program_run_packages := jansson libbpf
programs += primitive_run
primitive_run_sources := tools/bench/primitive_run.c tools/bench/ingest.c tools/report/int_packet.c
primitive_run_libraries := dart
primitive_run_packages := libbpf

# Verbs and connections of hosts in memory, in place of the libraries.
simulated := $(addprefix tools/bench/simulated_,network.c verbs.c)

# The controller with hosts in memory.
programs += scrape_speed
scraping := $(simulated) $(addprefix tools/bench/, \
	gathered_hosts.c rate_sink.c scraping.c thread_clock.c)
# The lists of the controller are known later: see there.
scrape_speed_sources = $(addprefix tools/bench/,scrape_speed.c bare_scraping.c) $(scraping) \
	$(controller_scraping)
scrape_speed_libraries := dart
scrape_speed_packages := nettle re2 libsystemd jansson libibverbs librdmacm libxxhash liburcu
unit_tea_reader_sources := $(simulated)
unit_scraping_sources = $(scraping) $(controller_scraping)
threaded_tests += scraping

# Outputs of the controller that push, with metrics of hosts that do not exist.
programs += push_metrics
push_metrics_sources = tools/bench/push_metrics.c \
	tools/bench/invented_metrics.c $(controller_push)
push_metrics_libraries := dart
push_metrics_packages := nettle re2 jansson libxxhash liburcu libcurl snappy zlib

# The costs of the controller's outputs.
programs += outputs_speed
outputs_speed_sources = $(sort tools/bench/outputs_speed.c \
	tools/bench/bare_http.c $(unit_controller_workers_sources) \
	$(controller_settings) $(wildcard $(addprefix tools/controller/, \
	transport/certificates.c condition/condition.c base/*.c exposition/*.c \
	http/*.c metrics/*.c metrics/*/*.c outputs/*.c push/*.c push/*/*.c)))
outputs_speed_libraries := dart
outputs_speed_packages := nettle re2 libsystemd jansson yaml-0.1 smartcols libibverbs librdmacm \
	libxxhash liburcu libcurl libmicrohttpd snappy zlib

# The page, with invented hosts.
programs += web_hosts
web_hosts_sources = $(addprefix tools/bench/, invented_contents.c invented_host.c \
	invented_made.c invented_plan.c web_hosts.c) $(controller_web)
web_hosts_libraries := dart
web_hosts_packages := jansson libmicrohttpd liburcu zlib

# Recordings of hosts that do not exist.
programs += invent_recording
invent_recording_sources = tools/bench/invent_recording.c $(controller_record) \
	$(unit_controller_workers_sources) tools/controller/outputs/output.c tools/controller/outputs/output_figures.c
invent_recording_libraries := dart
invent_recording_packages := nettle re2 jansson libibverbs librdmacm libxxhash liburcu libzstd
