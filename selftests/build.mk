# SPDX-License-Identifier: GPL-2.0-only
# compare: compares values that a controller reads with the kernel's.
programs += compare
compare_sources := $(wildcard selftests/compare/*.c)
compare_packages := jansson

unit_text_file_sources = $(unit_tea_parser_sources) tools/controller/base/secret.c
unit_roce_frame_sources := selftests/lib/roce_frame_parse.c
unit_vectors_sources := $(unit_roce_frame_sources)
unit_farm_sources := $(addprefix selftests/lib/farm_, \
	sample.c table.c values.c)
unit_farm_verdict_sources := $(unit_farm_sources) $(addprefix selftests/lib/farm_, \
	sums.c verdict.c)

agent/rows_come_free_skeletons := biolat cgroupnet tcpconn
unit_preload_layouts_sources := tools/lib/zero/preload_layout.c
