# SPDX-License-Identifier: GPL-2.0-only
# libdartzero: metrics of programs in memory that dartd shows.  Static only: each program has its
# own section.
libraries += dartzero
dartzero_sources := $(wildcard tools/lib/zero/*.c)
