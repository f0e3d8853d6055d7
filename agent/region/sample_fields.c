// SPDX-License-Identifier: GPL-2.0-only
/* The fields of samples, with their units and kinds. */
#include "sample_fields.h"

#include <stddef.h>

#include <linux/dart_zero.h>
#include <linux/dart_zero_samples.h>

/* A member of struct dart_zero_@sample. */
#define NAMED(sample, member, name_, unit_, kind_, ...)                        \
	{                                                                      \
		.name = name_, .unit = unit_,                                  \
		.offset = offsetof(struct dart_zero_##sample, member),         \
		.width = sizeof(((struct dart_zero_##sample *)NULL)->member),  \
		.count = 1, .kind = DART_CONTROL_FIELD_##kind_,                \
		__VA_ARGS__                                                    \
	}
#define FIELD(sample, member, unit, kind)                                      \
	NAMED(sample, member, #member, unit, kind)
#define COUNTER(sample, member, unit) FIELD(sample, member, unit, COUNTER)
#define GAUGE(sample, member, unit) FIELD(sample, member, unit, GAUGE)
#define TEXT(sample, member) FIELD(sample, member, "", TEXT)

const struct dart_field gathering_fields[] = {
	COUNTER(gathering, passes, "passes"),
	COUNTER(gathering, missed, "passes"),
	COUNTER(gathering, records, "records"),
	COUNTER(gathering, time_ns, "ns"),
	GAUGE(gathering, longest_ns, "ns"),
	COUNTER(gathering, cgroup_visits, "visits"),
	COUNTER(gathering, stale, "records"),
	{ }
};

#define MEMORY(member) GAUGE(memory, member, "bytes")

const struct dart_field memory_fields[] = {
	MEMORY(total),
	MEMORY(free),
	MEMORY(available),
	MEMORY(buffers),
	MEMORY(cached),
	MEMORY(swap_cached),
	MEMORY(active),
	MEMORY(inactive),
	MEMORY(active_anon),
	MEMORY(inactive_anon),
	MEMORY(active_file),
	MEMORY(inactive_file),
	MEMORY(unevictable),
	MEMORY(mlocked),
	MEMORY(swap_free),
	MEMORY(dirty),
	MEMORY(writeback),
	MEMORY(anon_pages),
	MEMORY(mapped),
	MEMORY(shmem),
	MEMORY(kreclaimable),
	MEMORY(slab),
	MEMORY(sreclaimable),
	MEMORY(sunreclaim),
	MEMORY(kernel_stack),
	MEMORY(page_tables),
	MEMORY(sec_page_tables),
	MEMORY(committed_as),
	MEMORY(anon_huge_pages),
	MEMORY(shmem_huge_pages),
	MEMORY(shmem_pmd_mapped),
	MEMORY(file_huge_pages),
	MEMORY(file_pmd_mapped),
	{ }
};

const struct dart_field load_fields[] = {
	GAUGE(load, load1, "1/2048 tasks"),
	GAUGE(load, load5, "1/2048 tasks"),
	GAUGE(load, load15, "1/2048 tasks"),
	GAUGE(load, uptime, "ns"),
	GAUGE(load, online_cpus, "CPUs"),
	GAUGE(load, boot_time, "ns"),
	GAUGE(load, random_ready, ""),
	{ }
};

#define COUNT(member, unit) GAUGE(files, member, unit)

const struct dart_field files_fields[] = {
	COUNT(open, "files"),
	COUNT(open_max, "files"),
	COUNT(inodes, "inodes"),
	COUNT(inodes_unused, "inodes"),
	COUNT(dentries, "dentries"),
	COUNT(dentries_unused, "dentries"),
	COUNT(dentries_negative, "dentries"),
	COUNT(inotify_instances, "instances"),
	COUNT(inotify_watches, "watches"),
	COUNT(inotify_left_out, "lists"),
	{ }
};

#define SIGNED(sample, member, unit) \
	NAMED(sample, member, #member, unit, GAUGE, .is_signed = true)

const struct dart_field clock_fields[] = {
	GAUGE(clock, status, ""),
	SIGNED(clock, offset, "ns"),
	GAUGE(clock, maxerror, "ns"),
	GAUGE(clock, esterror, "ns"),
	SIGNED(clock, frequency, "1/65536 ppm"),
	SIGNED(clock, tai, "s"),
	SIGNED(clock, pps_frequency, "1/65536 ppm"),
	SIGNED(clock, pps_jitter, "ns"),
	SIGNED(clock, pps_stability, "1/65536 ppm"),
	GAUGE(clock, pps_shift, "s"),
	COUNTER(clock, pps_jitter_count, "times"),
	COUNTER(clock, pps_calibrations, "times"),
	COUNTER(clock, pps_errors, "times"),
	COUNTER(clock, pps_stability_exceeded, "times"),
	GAUGE(clock, time_constant, ""),
	GAUGE(clock, tick, "us"),
	{ }
};

const struct dart_field cpus_fields[] = {
	GAUGE(cpu, package, ""),
	GAUGE(cpu, die, ""),
	GAUGE(cpu, core, ""),
	GAUGE(cpu, node, ""),
	GAUGE(cpu, frequency, "Hz"),
	{ }
};

const struct dart_field perf_fields[] = {
	COUNTER(perf, cycles, "cycles"),
	COUNTER(perf, instructions, "instructions"),
	COUNTER(perf, cache_references, "times"),
	COUNTER(perf, cache_misses, "times"),
	COUNTER(perf, branches, "instructions"),
	COUNTER(perf, branch_misses, "times"),
	COUNTER(perf, enabled, "ns"),
	COUNTER(perf, running, "ns"),
	{ }
};

#define PORT_COUNTER(member, unit) COUNTER(rdma_port, member, unit)

const struct dart_field rdma_ports_fields[] = {
	GAUGE(rdma_port, state, ""),
	PORT_COUNTER(sent_pkts, "packets"),
	PORT_COUNTER(rcvd_pkts, "packets"),
	PORT_COUNTER(duplicate_request, "requests"),
	PORT_COUNTER(out_of_seq_request, "requests"),
	PORT_COUNTER(rcvd_rnr_err, "times"),
	PORT_COUNTER(send_rnr_err, "times"),
	PORT_COUNTER(rcvd_seq_err, "times"),
	PORT_COUNTER(ack_deferred, "times"),
	PORT_COUNTER(retry_exceeded_err, "times"),
	PORT_COUNTER(retry_rnr_exceeded_err, "times"),
	PORT_COUNTER(completer_retry_err, "times"),
	PORT_COUNTER(send_err, "times"),
	PORT_COUNTER(link_downed, "times"),
	PORT_COUNTER(rdma_sends, "times"),
	PORT_COUNTER(rdma_recvs, "times"),
	PORT_COUNTER(rx_write_requests, "requests"),
	PORT_COUNTER(rx_read_requests, "requests"),
	PORT_COUNTER(rx_atomic_requests, "requests"),
	PORT_COUNTER(rx_dct_connect, "times"),
	PORT_COUNTER(out_of_buffer, "times"),
	PORT_COUNTER(out_of_sequence, "times"),
	PORT_COUNTER(rnr_nak_retry_err, "times"),
	PORT_COUNTER(packet_seq_err, "times"),
	PORT_COUNTER(implied_nak_seq_err, "times"),
	PORT_COUNTER(local_ack_timeout_err, "times"),
	PORT_COUNTER(resp_local_length_error, "times"),
	PORT_COUNTER(resp_cqe_error, "times"),
	PORT_COUNTER(req_cqe_error, "times"),
	PORT_COUNTER(req_remote_invalid_request, "times"),
	PORT_COUNTER(req_remote_access_errors, "times"),
	PORT_COUNTER(resp_remote_access_errors, "times"),
	PORT_COUNTER(resp_cqe_flush_error, "times"),
	PORT_COUNTER(req_cqe_flush_error, "times"),
	PORT_COUNTER(roce_adp_retrans, "times"),
	PORT_COUNTER(roce_adp_retrans_to, "times"),
	PORT_COUNTER(roce_slow_restart, "times"),
	PORT_COUNTER(roce_slow_restart_cnps, "packets"),
	PORT_COUNTER(roce_slow_restart_trans, "times"),
	PORT_COUNTER(rp_cnp_ignored, "packets"),
	PORT_COUNTER(rp_cnp_handled, "packets"),
	PORT_COUNTER(np_ecn_marked_roce_packets, "packets"),
	PORT_COUNTER(np_cnp_sent, "packets"),
	PORT_COUNTER(rx_icrc_encapsulated, "packets"),
	{ }
};

#define NODE(member) GAUGE(node_memory, member, "bytes")

const struct dart_field node_memory_fields[] = {
	NODE(total),
	NODE(free),
	NODE(swap_cached),
	NODE(active),
	NODE(inactive),
	NODE(active_anon),
	NODE(inactive_anon),
	NODE(active_file),
	NODE(inactive_file),
	NODE(unevictable),
	NODE(mlocked),
	NODE(dirty),
	NODE(writeback),
	NODE(file_pages),
	NODE(mapped),
	NODE(anon_pages),
	NODE(shmem),
	NODE(kernel_stack),
	NODE(page_tables),
	NODE(sec_page_tables),
	NODE(kreclaimable),
	NODE(slab),
	NODE(sreclaimable),
	NODE(sunreclaim),
	NODE(anon_huge_pages),
	NODE(shmem_huge_pages),
	NODE(shmem_pmd_mapped),
	NODE(file_huge_pages),
	NODE(file_pmd_mapped),
	{ }
};

#define ZONE_VALUE(zone, member) \
	NAMED(node_zones, zone.member, #zone "." #member, "bytes", GAUGE)
#define ZONE(zone)                                                             \
	ZONE_VALUE(zone, free), ZONE_VALUE(zone, min), ZONE_VALUE(zone, low),  \
		ZONE_VALUE(zone, high), ZONE_VALUE(zone, managed),             \
		ZONE_VALUE(zone, present)

const struct dart_field node_zones_fields[] = {
	ZONE(dma),
	ZONE(dma32),
	ZONE(normal),
	ZONE(movable),
	ZONE(device),
	GAUGE(node_zones, page_size, "bytes"),
	{ }
};

#define CGROUP_BYTES(member) GAUGE(cgroup_memory, member, "bytes")
#define CGROUP_TIMES(member) COUNTER(cgroup_memory, member, "times")

const struct dart_field cgroup_memory_fields[] = {
	NAMED(cgroup_memory, usage, "current", "bytes", GAUGE),
	CGROUP_BYTES(peak),
	CGROUP_BYTES(min),
	CGROUP_BYTES(low),
	CGROUP_BYTES(high),
	CGROUP_BYTES(max),
	CGROUP_BYTES(swap_current),
	CGROUP_TIMES(events_low),
	CGROUP_TIMES(events_high),
	CGROUP_TIMES(events_max),
	CGROUP_TIMES(events_oom),
	CGROUP_TIMES(events_oom_kill),
	CGROUP_BYTES(anon),
	CGROUP_BYTES(file),
	CGROUP_BYTES(kernel),
	CGROUP_BYTES(sock),
	CGROUP_BYTES(shmem),
	CGROUP_BYTES(file_mapped),
	CGROUP_BYTES(file_dirty),
	CGROUP_BYTES(file_writeback),
	CGROUP_BYTES(slab_reclaimable),
	CGROUP_BYTES(slab_unreclaimable),
	COUNTER(cgroup_memory, pgfault, "faults"),
	COUNTER(cgroup_memory, pgmajfault, "faults"),
	COUNTER(cgroup_memory, workingset_refault_anon, "pages"),
	COUNTER(cgroup_memory, workingset_refault_file, "pages"),
	CGROUP_BYTES(inactive_file),
	{ }
};

const struct dart_field cgroup_pids_fields[] = {
	NAMED(cgroup_pids, tasks, "current", "tasks", GAUGE),
	GAUGE(cgroup_pids, peak, "tasks"),
	GAUGE(cgroup_pids, max, "tasks"),
	COUNTER(cgroup_pids, events_max, "times"),
	{ }
};

const struct dart_field cgroup_bandwidth_fields[] = {
	COUNTER(cgroup_bandwidth, nr_periods, "periods"),
	COUNTER(cgroup_bandwidth, nr_throttled, "periods"),
	COUNTER(cgroup_bandwidth, throttled_time, "ns"),
	COUNTER(cgroup_bandwidth, nr_bursts, "periods"),
	NAMED(cgroup_bandwidth, quota, "quota", "ns", GAUGE, .is_signed = true),
	GAUGE(cgroup_bandwidth, period, "ns"),
	{ }
};

const struct dart_field cgroup_pressure_fields[] = {
	COUNTER(cgroup_pressure, cpu_some, "ns"),
	COUNTER(cgroup_pressure, cpu_full, "ns"),
	COUNTER(cgroup_pressure, memory_some, "ns"),
	COUNTER(cgroup_pressure, memory_full, "ns"),
	COUNTER(cgroup_pressure, io_some, "ns"),
	COUNTER(cgroup_pressure, io_full, "ns"),
	COUNTER(cgroup_pressure, irq_full, "ns"),
	{ }
};

const struct dart_field cgroup_io_fields[] = {
	COUNTER(cgroup_io, rbytes, "bytes"),
	COUNTER(cgroup_io, wbytes, "bytes"),
	COUNTER(cgroup_io, rios, "requests"),
	COUNTER(cgroup_io, wios, "requests"),
	COUNTER(cgroup_io, dbytes, "bytes"),
	COUNTER(cgroup_io, dios, "requests"),
	GAUGE(cgroup_io, left_out, ""),
	{ }
};

#define DISK_COUNTER(member, unit) \
	NAMED(cgroup_disk, io.member, #member, unit, COUNTER)

const struct dart_field cgroup_disks_fields[] = {
	GAUGE(cgroup_disk, major, ""),
	GAUGE(cgroup_disk, minor, ""),
	DISK_COUNTER(rbytes, "bytes"),
	DISK_COUNTER(wbytes, "bytes"),
	DISK_COUNTER(rios, "requests"),
	DISK_COUNTER(wios, "requests"),
	DISK_COUNTER(dbytes, "bytes"),
	DISK_COUNTER(dios, "requests"),
	NAMED(cgroup_disk, io.left_out, "left_out", "", GAUGE),
	{ }
};

#define PROCESSES(state) GAUGE(processes, state, "processes")

const struct dart_field processes_fields[] = {
	PROCESSES(total),
	PROCESSES(running),
	PROCESSES(sleeping),
	PROCESSES(disk_sleep),
	PROCESSES(stopped),
	PROCESSES(tracing_stop),
	PROCESSES(dead),
	PROCESSES(zombie),
	PROCESSES(parked),
	PROCESSES(idle),
	{ }
};

const struct dart_field pressure_fields[] = {
	COUNTER(pressure, cpu_some, "ns"),
	COUNTER(pressure, memory_some, "ns"),
	COUNTER(pressure, memory_full, "ns"),
	COUNTER(pressure, io_some, "ns"),
	COUNTER(pressure, io_full, "ns"),
	COUNTER(pressure, irq_full, "ns"),
	{ }
};

const struct dart_field tasks_fields[] = {
	GAUGE(tasks, procs_running, "tasks"),
	GAUGE(tasks, procs_blocked, "tasks"),
	GAUGE(tasks, threads, "threads"),
	COUNTER(tasks, processes, "forks"),
	COUNTER(tasks, ctxt, "switches"),
	GAUGE(tasks, threads_max, "threads"),
	GAUGE(tasks, pid_max, ""),
	{ }
};

const struct dart_field swap_fields[] = {
	GAUGE(swap, total, "bytes"),
	GAUGE(swap, free, "bytes"),
	GAUGE(swap, commit_limit, "bytes"),
	{ }
};

const struct dart_field hugepages_fields[] = {
	GAUGE(hugepages, total, "pages"),
	GAUGE(hugepages, free, "pages"),
	GAUGE(hugepages, reserved, "pages"),
	GAUGE(hugepages, surplus, "pages"),
	GAUGE(hugepages, size, "bytes"),
	GAUGE(hugepages, hugetlb, "bytes"),
	{ }
};

const struct dart_field netdev_link_fields[] = {
	COUNTER(netdev_link, rx_packets, "packets"),
	COUNTER(netdev_link, tx_packets, "packets"),
	COUNTER(netdev_link, rx_bytes, "bytes"),
	COUNTER(netdev_link, tx_bytes, "bytes"),
	COUNTER(netdev_link, rx_errors, "errors"),
	COUNTER(netdev_link, tx_errors, "errors"),
	COUNTER(netdev_link, rx_dropped, "packets"),
	COUNTER(netdev_link, tx_dropped, "packets"),
	COUNTER(netdev_link, multicast, "packets"),
	COUNTER(netdev_link, collisions, "collisions"),
	COUNTER(netdev_link, rx_length_errors, "errors"),
	COUNTER(netdev_link, rx_over_errors, "errors"),
	COUNTER(netdev_link, rx_crc_errors, "errors"),
	COUNTER(netdev_link, rx_frame_errors, "errors"),
	COUNTER(netdev_link, rx_fifo_errors, "errors"),
	COUNTER(netdev_link, rx_missed_errors, "errors"),
	COUNTER(netdev_link, tx_aborted_errors, "errors"),
	COUNTER(netdev_link, tx_carrier_errors, "errors"),
	COUNTER(netdev_link, tx_fifo_errors, "errors"),
	COUNTER(netdev_link, tx_heartbeat_errors, "errors"),
	COUNTER(netdev_link, tx_window_errors, "errors"),
	COUNTER(netdev_link, rx_compressed, "packets"),
	COUNTER(netdev_link, tx_compressed, "packets"),
	COUNTER(netdev_link, rx_nohandler, "packets"),
	COUNTER(netdev_link, rx_otherhost_dropped, "packets"),
	GAUGE(netdev_link, carrier, ""),
	COUNTER(netdev_link, carrier_changes, "changes"),
	GAUGE(netdev_link, operstate, ""),
	GAUGE(netdev_link, mtu, "bytes"),
	{ }
};

const struct dart_field sockets_fields[] = {
	GAUGE(sockets, used, "sockets"),
	GAUGE(sockets, tcp_inuse, "sockets"),
	GAUGE(sockets, tcp_tw, "sockets"),
	GAUGE(sockets, udp_inuse, "sockets"),
	GAUGE(sockets, udplite_inuse, "sockets"),
	GAUGE(sockets, raw_inuse, "sockets"),
	GAUGE(sockets, frag_inuse, "packets"),
	GAUGE(sockets, tcp6_inuse, "sockets"),
	GAUGE(sockets, udp6_inuse, "sockets"),
	GAUGE(sockets, udplite6_inuse, "sockets"),
	GAUGE(sockets, raw6_inuse, "sockets"),
	GAUGE(sockets, frag6_inuse, "packets"),
	GAUGE(sockets, frag_memory, "bytes"),
	GAUGE(sockets, frag6_memory, "bytes"),
	GAUGE(sockets, conntrack_limit, "connections"),
	GAUGE(sockets, conntrack_entries, "connections"),
	COUNTER(sockets, conntrack_invalid, "packets"),
	COUNTER(sockets, conntrack_insert_failed, "connections"),
	COUNTER(sockets, conntrack_drop, "packets"),
	COUNTER(sockets, conntrack_early_drop, "connections"),
	{ }
};

const struct dart_field sockets_host_fields[] = {
	GAUGE(sockets_host, tcp_orphan, "sockets"),
	GAUGE(sockets_host, tcp_alloc, "sockets"),
	GAUGE(sockets_host, tcp_mem, "bytes"),
	GAUGE(sockets_host, udp_mem, "bytes"),
	GAUGE(sockets_host, page_size, "bytes"),
	{ }
};

const struct dart_field disk_io_fields[] = {
	COUNTER(disk_io, read_ios, "requests"),
	COUNTER(disk_io, read_merges, "requests"),
	COUNTER(disk_io, read_sectors, "sectors"),
	COUNTER(disk_io, read_ticks, "ms"),
	COUNTER(disk_io, write_ios, "requests"),
	COUNTER(disk_io, write_merges, "requests"),
	COUNTER(disk_io, write_sectors, "sectors"),
	COUNTER(disk_io, write_ticks, "ms"),
	GAUGE(disk_io, in_flight, "requests"),
	COUNTER(disk_io, io_ticks, "ms"),
	COUNTER(disk_io, time_in_queue, "ms"),
	COUNTER(disk_io, discard_ios, "requests"),
	COUNTER(disk_io, discard_merges, "requests"),
	COUNTER(disk_io, discard_sectors, "sectors"),
	COUNTER(disk_io, discard_ticks, "ms"),
	COUNTER(disk_io, flush_ios, "requests"),
	COUNTER(disk_io, flush_ticks, "ms"),
	{ }
};

const struct dart_field filesystem_fields[] = {
	GAUGE(filesystem, size, "bytes"),
	GAUGE(filesystem, free, "bytes"),
	GAUGE(filesystem, available, "bytes"),
	GAUGE(filesystem, files, "files"),
	GAUGE(filesystem, files_free, "files"),
	GAUGE(filesystem, read_only, ""),
	TEXT(filesystem, device),
	TEXT(filesystem, fstype),
	{ }
};
