# SPDX-License-Identifier: GPL-2.0-only
# compare: compares values that a controller reads with those of the kernel.
programs += compare
compare_sources := $(wildcard selftests/compare/*.c)
compare_packages := jansson
