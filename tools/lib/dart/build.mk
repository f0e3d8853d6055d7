# SPDX-License-Identifier: GPL-2.0-only
# libdart: what an agent writes and a controller reads.
libraries += dart
dart_sources := $(wildcard tools/lib/dart/*.c tools/lib/dart/*/*.c)
dart_packages := libxxhash jansson libibverbs librdmacm yaml-0.1 zlib m
m_libs := -lm
