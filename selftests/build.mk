# SPDX-License-Identifier: GPL-2.0-only
# Compares what a controller reads with what the kernel says.
programs += compare
compare_sources := $(wildcard selftests/compare/*.c)
compare_packages := jansson
