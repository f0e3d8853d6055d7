# SPDX-License-Identifier: GPL-2.0-only
# DART: the age and the errors of values in a store.  Reports go into memory as in measurements.
in_memory := $(addprefix tools/bench/, ingest.c memory.c)
programs += dart-sim
dart-sim_sources := $(wildcard papers/dart/*.c) $(in_memory)
dart-sim_libraries := dart

# Direct Telemetry Access: the errors of sketches.
programs += sketch-sim
sketch-sim_sources := papers/sketch/sketch_sim.c
sketch-sim_libraries := dart

# Direct Telemetry Access: the entries of lists that get lost.
programs += list-sim
list-sim_sources := papers/list/list_sim.c
list-sim_libraries := dart

# Direct Telemetry Access: whole paths of postcards, and the cost of reports.
programs += dta-paths dta-rates
dta-paths_sources := papers/dta/dta_paths.c tools/bench/ingest.c
dta-paths_libraries := dart
dta-rates_sources := papers/dta/dta_rates.c tools/bench/ingest.c
dta-rates_libraries := dart

# TEA: the cache of a switch.
programs += tea-sim
cached_traffic := $(addprefix papers/tea/, cached_traffic.c tea_sketch.c) \
	tools/bench/zipf.c tools/dartctl/switch/cache/keys.c
tea-sim_sources := papers/tea/tea_sim.c $(cached_traffic)
tea-sim_libraries := dart
unit_cached_traffic_sources := $(cached_traffic)
unit_tea_sketch_sources := papers/tea/tea_sketch.c

# ZERO: the flow control of the controller.
programs += dart-scale
fabric := $(addprefix papers/zero/, adapter.c event_heap.c fabric.c fabric_events.c \
	fabric_faults.c fabric_network.c io_thread.c machine.c) \
	$(addprefix tools/controller/flow/, credit.c credit_groups.c)
dart-scale_sources := papers/zero/dart_scale.c $(fabric)
unit_fabric_sources := $(fabric)
