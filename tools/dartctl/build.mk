# SPDX-License-Identifier: GPL-2.0-only
# dartctl: tells dartd what to expose.
programs += dartctl
dartctl_sources := $(wildcard tools/dartctl/*.c)
dartctl_libraries := dart
dartctl_packages := jansson libbpf smartcols
dartctl_skeletons := reporter

unit_switch_plan_sources := $(addprefix tools/dartctl/, \
	switch_plan.c switch_state.c)
unit_switch_program_sources := $(addprefix tools/dartctl/, \
	switch_program.c switch_state.c)
unit_switch_thrift_sources := $(addprefix tools/dartctl/, switch_bmv2.c \
	switch_bmv2_read.c switch_call.c switch_program.c switch_state.c \
	switch_thrift.c switch_wire.c)
