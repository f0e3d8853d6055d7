/* SPDX-License-Identifier: GPL-2.0-only */
/* The fields of the samples in <linux/dart_zero_samples.h>. */
#ifndef SAMPLE_FIELDS_H
#define SAMPLE_FIELDS_H

#include <libdart/table/schema.h>

/* A name of NULL ends each list. */
extern const struct dart_field gathering_fields[];
extern const struct dart_field memory_fields[];
extern const struct dart_field load_fields[];
extern const struct dart_field files_fields[];
extern const struct dart_field clock_fields[];
extern const struct dart_field cpus_fields[];
extern const struct dart_field perf_fields[];
extern const struct dart_field rdma_ports_fields[];
extern const struct dart_field node_memory_fields[];
extern const struct dart_field node_zones_fields[];
extern const struct dart_field cgroup_memory_fields[];
extern const struct dart_field cgroup_pids_fields[];
extern const struct dart_field cgroup_bandwidth_fields[];
extern const struct dart_field cgroup_pressure_fields[];
extern const struct dart_field cgroup_io_fields[];
extern const struct dart_field cgroup_disks_fields[];
extern const struct dart_field processes_fields[];
extern const struct dart_field pressure_fields[];
extern const struct dart_field tasks_fields[];
extern const struct dart_field swap_fields[];
extern const struct dart_field hugepages_fields[];
extern const struct dart_field netdev_link_fields[];
extern const struct dart_field sockets_fields[];
extern const struct dart_field sockets_host_fields[];
extern const struct dart_field disk_io_fields[];
extern const struct dart_field filesystem_fields[];

#endif /* SAMPLE_FIELDS_H */
