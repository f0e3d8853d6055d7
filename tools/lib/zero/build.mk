# SPDX-License-Identifier: GPL-2.0-only
# libdartzero: metrics of programs in memory that dartd shows.  Static only: each program has its
# own section.
libraries += dartzero
dartzero_sources := $(addprefix tools/lib/zero/,zero.c zero_memory.c zero_registration.c \
	zero_requests.c zero_thread.c)

# libdartzero-preload.so: for programs that nobody changed.  It has no version, because no program
# is linked with it.
preload := $(output)/lib/libdartzero-preload.so
preload_sources := $(wildcard tools/lib/zero/preload*.c) \
	$(addprefix tools/lib/zero/,zero_memory.c zero_registration.c zero_requests.c \
	zero_thread.c)
preload_map := tools/lib/zero/preload.map
