# SPDX-License-Identifier: GPL-2.0-only
# dartd: exposes the metrics of a host to controllers.
programs += dartd
dartd_sources := $(wildcard agent/*.c)
dartd_libraries := dart
dartd_packages := libsystemd jansson libibverbs librdmacm libbpf libxxhash
dartd_skeletons := biolat cgroupnet map_watch runqlat tcp_traffic tcpconn

unit_entry_name_sources := agent/entry_name.c agent/why.c
unit_source_schema_sources := $(addprefix agent/, \
	source_schema.c source.c layout.c why.c)
