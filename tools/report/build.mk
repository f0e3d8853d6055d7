# SPDX-License-Identifier: GPL-2.0-only
# dart-report: reports flows to stores from user space.
programs += dart-report
dart-report_sources := $(wildcard tools/report/*.c) tools/watch/path_watch.c
dart-report_libraries := dart
dart-report_packages := jansson libbpf libpcap
dart-report_skeletons := flow_counter

unit_report_options_sources := tools/report/options.c
unit_int_packet_sources := tools/report/int_packet.c
unit_report_feed_sources := $(addprefix tools/report/, feed.c int_packet.c)
unit_report_sketching_sources := tools/report/sketching.c tools/watch/path_watch.c
