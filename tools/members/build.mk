# SPDX-License-Identifier: GPL-2.0-only
# dart-members-zookeeper: members of a shard of controllers, by ZooKeeper; not without its library.
programs += $(if $(zookeeper_mt_libs),dart-members-zookeeper)
dart-members-zookeeper_sources := $(wildcard tools/members/*.c) \
	tools/controller/settings/shard.c
dart-members-zookeeper_libraries := dart
dart-members-zookeeper_packages := libsystemd jansson yaml-0.1 \
	libxxhash zookeeper_mt

unit_members_roster_sources := tools/members/roster.c \
	tools/controller/settings/shard.c
unit_members_schedules_sources := $(unit_members_roster_sources)
unit_members_node_sources := $(addprefix tools/, members/node.c controller/settings/shard.c \
	controller/discovery/members_file.c)
