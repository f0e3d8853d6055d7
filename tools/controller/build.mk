# SPDX-License-Identifier: GPL-2.0-only
# dart-controller: reads metrics from the memory of hosts.
programs += dart-controller
dart-controller_sources := $(wildcard tools/controller/*.c \
	tools/controller/io/*.c tools/controller/doctor/*.c tools/doctor/*.c)
dart-controller_libraries := dart
dart-controller_packages := libsystemd jansson yaml-0.1 smartcols libibverbs \
	librdmacm libxxhash

unit_controller_options_sources := $(addprefix tools/controller/, \
	options.c settings.c)
unit_controller_config_sources := $(addprefix tools/controller/, \
	config.c settings.c)
unit_controller_credit_sources := tools/controller/credit.c
unit_controller_capacity_sources := tools/controller/capacity.c
unit_controller_wheel_sources := tools/controller/io/wheel.c
unit_controller_scraper_sources := $(addprefix tools/controller/, \
	budget.c sample.c scraper.c settings.c)
