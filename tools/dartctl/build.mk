# SPDX-License-Identifier: GPL-2.0-only
# dartctl: tells dartd what to expose.
programs += dartctl
dartctl_sources := $(wildcard tools/dartctl/*.c)
dartctl_libraries := dart
dartctl_packages := jansson libbpf smartcols
dartctl_skeletons := reporter
