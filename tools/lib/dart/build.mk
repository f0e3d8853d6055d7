# SPDX-License-Identifier: GPL-2.0-only
# libdart: control regions, READs, stores, reports and lookup tables.
libraries += dart
dart_sources := $(wildcard tools/lib/dart/*.c tools/lib/dart/*/*.c)
dart_packages := libxxhash jansson libibverbs librdmacm yaml-0.1 zlib libzstd gnutls m
m_libs := -lm
# Raised when a program that was linked with the last one may break.
dart_abi := 2
dart_map := tools/lib/dart/libdart.map
