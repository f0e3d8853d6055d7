# SPDX-License-Identifier: GPL-2.0-only
# What measurements are held against.
programs += bare_read local_read
bare_read_sources := tools/bench/bare_read.c tools/bench/timing.c
bare_read_libraries := dart
bare_read_packages := jansson libibverbs librdmacm libxxhash
local_read_sources := tools/bench/local_read.c tools/bench/timing.c
local_read_packages := libsystemd
