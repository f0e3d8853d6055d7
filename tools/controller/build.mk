# SPDX-License-Identifier: GPL-2.0-only
# dart-controller: reads metrics from the memory of hosts.
programs += dart-controller
dart-controller_sources := $(wildcard $(addprefix tools/controller/, \
	*.c io/*.c decode/*.c outputs/*.c doctor/*.c) tools/doctor/*.c)
dart-controller_libraries := dart
dart-controller_packages := libsystemd jansson yaml-0.1 smartcols libibverbs \
	librdmacm libxxhash liburcu

unit_controller_options_sources := $(addprefix tools/controller/, \
	options.c settings.c)
unit_controller_config_sources := $(addprefix tools/controller/, \
	config.c settings.c)
unit_controller_credit_sources := tools/controller/credit.c
unit_controller_groups_sources := $(addprefix tools/controller/, \
	credit.c credit_groups.c)
unit_controller_pool_sources := $(addprefix tools/controller/, \
	capacity.c credit.c credit_groups.c credit_pool.c flow.c \
	io/io_thread.c io/mailbox.c io/timers.c io/wheel.c \
	decode/queue.c decode/thread.c)
unit_controller_capacity_sources := tools/controller/capacity.c
unit_controller_wheel_sources := tools/controller/io/wheel.c
unit_controller_scraper_sources := $(addprefix tools/controller/, \
	decode/budget.c decode/sample.c decode/scraper.c settings.c)
unit_controller_workers_sources := $(wildcard tools/controller/decode/*.c) \
	tools/controller/settings.c
unit_controller_outputs_sources := $(addprefix tools/controller/, \
	decode/queue.c decode/thread.c outputs/output.c)
unit_controller_sinks_sources := $(unit_controller_workers_sources) \
	$(wildcard tools/controller/outputs/*.c)
threaded_tests += controller_pool controller_workers controller_outputs controller_sinks
