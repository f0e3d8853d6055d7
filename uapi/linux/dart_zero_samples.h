/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Sampled sources of /dev/dart_zero: values that the kernel does not keep per CPU,
 * so that no window can show them.  The module asks the kernel for the values at each
 * gathering.  A record of such a source has one row (DART_ZERO_RECORD_SUM) unless its
 * struct tells of rows (DART_ZERO_RECORD_COPIES).
 *
 * A sample is one of these structures.  Members are counted in bytes and nanoseconds
 * unless their name says otherwise, and are 0 where a kernel does not have them.
 * Later ABIs add members at the end.
 */
#ifndef _UAPI_LINUX_DART_ZERO_SAMPLES_H
#define _UAPI_LINUX_DART_ZERO_SAMPLES_H

/* eBPF programs have these types from the kernel's BTF. */
#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/*
 * DART_ZERO_SOURCE_MEMORY: the lines of /proc/meminfo with these names, in bytes.
 * Vmalloc*, Percpu, DirectMap* and Cma* are not here: the kernel does not export them to
 * modules.  The eBPF programs of DART_ZERO_SOURCE_SWAP and DART_ZERO_SOURCE_HUGEPAGES read
 * SwapTotal, CommitLimit, HugePages_*, Hugepagesize and Hugetlb.
 */
struct dart_zero_memory {
	__u64 total;
	__u64 free;
	__u64 available;
	__u64 buffers;
	__u64 cached;
	__u64 swap_cached;
	__u64 active;		/* anonymous and file */
	__u64 inactive;
	__u64 active_anon;
	__u64 inactive_anon;
	__u64 active_file;
	__u64 inactive_file;
	__u64 unevictable;
	__u64 mlocked;
	__u64 swap_free;
	__u64 dirty;
	__u64 writeback;
	__u64 anon_pages;
	__u64 mapped;
	__u64 shmem;
	__u64 kreclaimable;
	__u64 slab;
	__u64 sreclaimable;
	__u64 sunreclaim;
	__u64 kernel_stack;
	__u64 page_tables;
	__u64 sec_page_tables;
	__u64 committed_as;
	__u64 anon_huge_pages;
	__u64 shmem_huge_pages;
	__u64 shmem_pmd_mapped;
	__u64 file_huge_pages;
	__u64 file_pmd_mapped;
};

/*
 * DART_ZERO_SOURCE_LOAD: /proc/loadavg, /proc/uptime and what the host is asked for
 * with them.  Averages are in units of 1/2048 task, the kernel's fixed point.
 */
struct dart_zero_load {
	__u64 load1;
	__u64 load5;
	__u64 load15;
	__u64 uptime;		/* ns since boot, with time suspended */
	__u64 online_cpus;
	__u64 boot_time;	/* ns since 1970; btime of /proc/stat */
	__u64 random_ready;	/* 0 or 1: entropy_avail has reached 256 */
};

/*
 * Samples of what modules cannot see: eBPF programs take them.  At each gathering the
 * module raises the writable raw tracepoint "dart_zero_sample" (program section
 * "raw_tp.w/dart_zero_sample"; arguments: struct dart_zero_sample * and the struct
 * cgroup *, or NULL for the host) in process context.  A program that knows @source
 * writes the struct of the source into @values, and then @answer.  Without an answer
 * the row stays as it is.  A program whose source has several rows is called for each,
 * with its @index, and sets @number.
 */
#define DART_ZERO_SAMPLE_WORDS	32

enum dart_zero_sample_answer {
	DART_ZERO_ANSWER_NONE = 0,
	DART_ZERO_ANSWER_VALUES = 1,
	/* The object has no such values at this time: the row becomes empty. */
	DART_ZERO_ANSWER_ABSENT = 2,
};

struct dart_zero_sample {
	__u32 source;		/* enum dart_zero_source */
	__u32 answer;		/* enum dart_zero_sample_answer */
	__u64 values[DART_ZERO_SAMPLE_WORDS];
	__u64 index;		/* of the row, from 0, where there are several */
	__u64 number;		/* the program sets it: what the row is of */
};

/*
 * DART_ZERO_SOURCE_CGROUP_MEMORY: memory.current, peak, min, low, high, max,
 * memory.swap.current, memory.events and lines of memory.stat.  Limits that are not
 * set are 2^63 less a page.  Empty where the memory controller is not enabled.
 */
struct dart_zero_cgroup_memory {
	__u64 usage;		/* memory.current */
	__u64 peak;
	__u64 min;
	__u64 low;
	__u64 high;
	__u64 max;
	__u64 swap_current;
	__u64 events_low;	/* all events: times */
	__u64 events_high;
	__u64 events_max;
	__u64 events_oom;
	__u64 events_oom_kill;
	/* As of the kernel's last flush of its per-CPU counters, every 2 s. */
	__u64 anon;
	__u64 file;
	__u64 kernel;
	__u64 sock;
	__u64 shmem;
	__u64 file_mapped;
	__u64 file_dirty;
	__u64 file_writeback;
	__u64 slab_reclaimable;
	__u64 slab_unreclaimable;
	__u64 pgfault;		/* faults */
	__u64 pgmajfault;
	__u64 workingset_refault_anon; /* pages */
	__u64 workingset_refault_file;
	__u64 inactive_file;	/* bytes: usage less this is the working set */
};

/*
 * DART_ZERO_SOURCE_CGROUP_PIDS: pids.current, peak, max and pids.events.  A limit that
 * is not set is 4194305.  Empty where the pids controller is not enabled.
 */
struct dart_zero_cgroup_pids {
	__u64 tasks;		/* pids.current */
	__u64 peak;
	__u64 max;
	__u64 events_max;	/* forks that failed */
};

/*
 * DART_ZERO_SOURCE_CGROUP_BANDWIDTH: cpu.max, and what cpu.stat has of it, in ns.
 * Empty where the cpu controller is not enabled.
 */
struct dart_zero_cgroup_bandwidth {
	__u64 nr_periods;	/* 32 bits, as the next and nr_bursts */
	__u64 nr_throttled;
	__u64 throttled_time;
	__u64 nr_bursts;
	__s64 quota;		/* in each period; -1: no limit */
	__u64 period;
};

/*
 * DART_ZERO_SOURCE_CGROUP_PRESSURE: the totals of cpu.pressure, memory.pressure,
 * io.pressure and irq.pressure, as of the kernel's last addition, every 2 s.  Empty if
 * the kernel does not account pressure.
 */
struct dart_zero_cgroup_pressure {
	__u64 cpu_some;
	__u64 cpu_full;
	__u64 memory_some;
	__u64 memory_full;
	__u64 io_some;
	__u64 io_full;
	__u64 irq_full;
};

/*
 * DART_ZERO_SOURCE_CGROUP_IO: io.stat, the sum over all devices, as of the kernel's last
 * flush of its per-CPU counters, every 2 s.  Empty where the io controller is not
 * enabled.
 */
struct dart_zero_cgroup_io {
	__u64 rbytes;
	__u64 wbytes;
	__u64 rios;
	__u64 wios;
	__u64 dbytes;
	__u64 dios;
	__u64 left_out;		/* 1: the cgroup has used more devices than are read, 128 */
};

/*
 * DART_ZERO_SOURCE_CGROUP_DISKS, a row for each of up to 16 devices that the cgroup has
 * used, with the number of the device (major << 20 | minor): its line of io.stat.
 * @io.left_out of the last row is 1 if the cgroup has used more.
 */
struct dart_zero_cgroup_disk {
	__u64 major;
	__u64 minor;
	struct dart_zero_cgroup_io io;
};

/* DART_ZERO_SOURCE_PRESSURE: the same of the host, /proc/pressure. */
struct dart_zero_pressure {
	__u64 cpu_some;
	__u64 memory_some;
	__u64 memory_full;
	__u64 io_some;
	__u64 io_full;
	__u64 irq_full;
};

/*
 * DART_ZERO_SOURCE_TASKS: the end of /proc/stat; threads of /proc/loadavg; threads-max and
 * pid_max of /proc/sys/kernel.
 */
struct dart_zero_tasks {
	__u64 procs_running;
	__u64 procs_blocked;
	__u64 threads;
	__u64 processes;	/* forks since boot */
	__u64 ctxt;		/* context switches since boot */
	__u32 threads_max;
	__u32 pid_max;		/* of the initial PID namespace */
};

/* DART_ZERO_SOURCE_SWAP: SwapTotal, SwapFree and CommitLimit of /proc/meminfo. */
struct dart_zero_swap {
	__u64 total;
	__u64 free;
	__u64 commit_limit;	/* that vm.overcommit_memory=2 enforces */
};

/*
 * DART_ZERO_SOURCE_HUGEPAGES: HugePages_*, Hugepagesize and Hugetlb of /proc/meminfo.  The
 * first five are of huge pages of the default size.
 */
struct dart_zero_hugepages {
	__u64 total;		/* pages, as the next three */
	__u64 free;
	__u64 reserved;
	__u64 surplus;
	__u64 size;
	__u64 hugetlb;		/* of all sizes together */
};

/*
 * DART_ZERO_SOURCE_PROCESSES: processes by the state of their first thread, as in
 * /proc/PID/stat.
 */
struct dart_zero_processes {
	__u64 total;
	__u64 running;		/* R */
	__u64 sleeping;		/* S */
	__u64 disk_sleep;	/* D */
	__u64 stopped;		/* T */
	__u64 tracing_stop;	/* t */
	__u64 dead;		/* X */
	__u64 zombie;		/* Z */
	__u64 parked;		/* P */
	__u64 idle;		/* I */
};

/*
 * DART_ZERO_SOURCE_FILES: file-nr, inode-nr and dentry-state of /proc/sys/fs; inotify of all users
 * together, including users in other user namespaces.  With many user namespaces a sample reads a
 * part of the users, and the next one goes on.
 */
struct dart_zero_files {
	__u64 open;		/* file handles */
	__u64 open_max;
	__u64 inodes;
	__u64 inodes_unused;
	__u64 dentries;
	__u64 dentries_unused;
	__u64 dentries_negative;
	__u64 inotify_instances;
	__u64 inotify_watches;
	/* lists of users, of 1024, that were too long to be read to their end */
	__u64 inotify_left_out;
};

/*
 * DART_ZERO_SOURCE_CLOCK: what adjtimex(2) tells; errors, offset and jitter in ns.  The
 * values of a pulse per second (PPS) are 0 where the kernel lacks CONFIG_NTP_PPS, which
 * NO_HZ excludes.
 */
struct dart_zero_clock {
	__u64 status;		/* STA_*: 64, STA_UNSYNC, is set while not synchronized */
	__s64 offset;		/* that is still to be corrected */
	__u64 maxerror;
	__u64 esterror;
	__s64 frequency;	/* 1/65536 ppm */
	__s64 tai;		/* s, TAI - UTC */
	__s64 pps_frequency;	/* 1/65536 ppm */
	__s64 pps_jitter;
	__s64 pps_stability;	/* 1/65536 ppm */
	__u32 pps_shift;	/* s, length of an interval of calibration */
	__u32 pps_jitter_count;	/* pulses whose jitter was too large */
	__u32 pps_calibrations;	/* intervals */
	__u32 pps_errors;	/* of them: that were not used */
	__u32 pps_stability_exceeded; /* of them: whose frequency wandered too far */
	__u32 time_constant;	/* of the phase-locked loop, a power of 2 */
	__u32 tick;		/* us */
	__u32 reserved;		/* 0 */
};

/*
 * DART_ZERO_SOURCE_CPUS, a row for each online CPU, with its number: its place, as in
 * /sys/devices/system/cpu/cpuN/topology, and its clock.
 */
struct dart_zero_cpu {
	__u64 package;
	__u64 die;
	__u64 core;		/* in the package */
	__u64 node;		/* of NUMA */
	__u64 frequency;	/* Hz, as cpufreq last set it; 0: no driver does */
};

/*
 * DART_ZERO_SOURCE_PERF, a row for each online CPU, with its number: what its hardware
 * counters (PMU) counted in user space and kernel since the window was added, as
 * perf-stat(1) -a does; 0 for one that the PMU does not have.  If it has too few at once,
 * perf lets them take turns, and a counter has missed the rest.
 */
struct dart_zero_perf {
	__u64 cycles;
	__u64 instructions;
	__u64 cache_references;
	__u64 cache_misses;
	__u64 branches;
	__u64 branch_misses;
	__u64 enabled;		/* ns, of the counter that ran least */
	__u64 running;		/* ns of them in which it counted */
};

/*
 * DART_ZERO_SOURCE_RDMA_PORTS, a row for each port of the RDMA device that works on a
 * network device, with its number: its state and those of its hw_counters in
 * /sys/class/infiniband that have these names, without counters that are bound to queue pairs
 * (rdma-statistic(8)).  First those of soft-RoCE, then others of mlx5.
 */
struct dart_zero_rdma_port {
	__u64 state;		/* enum ib_port_state: 4 is active */
	__u64 sent_pkts;
	__u64 rcvd_pkts;
	__u64 duplicate_request;
	__u64 out_of_seq_request;
	__u64 rcvd_rnr_err;
	__u64 send_rnr_err;
	__u64 rcvd_seq_err;
	__u64 ack_deferred;
	__u64 retry_exceeded_err;
	__u64 retry_rnr_exceeded_err;
	__u64 completer_retry_err;
	__u64 send_err;
	__u64 link_downed;
	__u64 rdma_sends;
	__u64 rdma_recvs;
	__u64 rx_write_requests;
	__u64 rx_read_requests;
	__u64 rx_atomic_requests;
	__u64 rx_dct_connect;
	__u64 out_of_buffer;
	__u64 out_of_sequence;
	__u64 rnr_nak_retry_err;
	__u64 packet_seq_err;
	__u64 implied_nak_seq_err;
	__u64 local_ack_timeout_err;
	__u64 resp_local_length_error;
	__u64 resp_cqe_error;
	__u64 req_cqe_error;
	__u64 req_remote_invalid_request;
	__u64 req_remote_access_errors;
	__u64 resp_remote_access_errors;
	__u64 resp_cqe_flush_error;
	__u64 req_cqe_flush_error;
	__u64 roce_adp_retrans;
	__u64 roce_adp_retrans_to;
	__u64 roce_slow_restart;
	__u64 roce_slow_restart_cnps;
	__u64 roce_slow_restart_trans;
	__u64 rp_cnp_ignored;
	__u64 rp_cnp_handled;
	__u64 np_ecn_marked_roce_packets;
	__u64 np_cnp_sent;
	__u64 rx_icrc_encapsulated;
};

/*
 * DART_ZERO_SOURCE_NODE_MEMORY, a row for each NUMA node that is online, with its
 * number: the lines of /sys/devices/system/node/nodeN/meminfo with these names.
 */
struct dart_zero_node_memory {
	__u64 total;
	__u64 free;
	__u64 swap_cached;
	__u64 active;		/* anonymous and file */
	__u64 inactive;
	__u64 active_anon;
	__u64 inactive_anon;
	__u64 active_file;
	__u64 inactive_file;
	__u64 unevictable;
	__u64 mlocked;
	__u64 dirty;
	__u64 writeback;
	__u64 file_pages;
	__u64 mapped;
	__u64 anon_pages;
	__u64 shmem;
	__u64 kernel_stack;
	__u64 page_tables;
	__u64 sec_page_tables;
	__u64 kreclaimable;
	__u64 slab;
	__u64 sreclaimable;
	__u64 sunreclaim;
	__u64 anon_huge_pages;
	__u64 shmem_huge_pages;
	__u64 shmem_pmd_mapped;
	__u64 file_huge_pages;
	__u64 file_pmd_mapped;
};

/* A zone in /proc/zoneinfo, in bytes. */
struct dart_zero_zone {
	__u64 free;
	__u64 min;		/* watermarks */
	__u64 low;
	__u64 high;
	__u64 managed;
	__u64 present;
};

/*
 * DART_ZERO_SOURCE_NODE_ZONES, rows as above: its zones.  Those that the kernel or the
 * node does not have are 0.
 */
struct dart_zero_node_zones {
	struct dart_zero_zone dma;
	struct dart_zero_zone dma32;
	struct dart_zero_zone normal;
	struct dart_zero_zone movable;
	struct dart_zero_zone device;
	__u64 page_size;	/* of the kernel */
};

/*
 * DART_ZERO_SOURCE_NETDEV_LINK: all of ip -s -s link, in the order of struct
 * rtnl_link_stats64, and the state of the link.
 */
struct dart_zero_netdev_link {
	__u64 rx_packets;
	__u64 tx_packets;
	__u64 rx_bytes;
	__u64 tx_bytes;
	__u64 rx_errors;
	__u64 tx_errors;
	__u64 rx_dropped;
	__u64 tx_dropped;
	__u64 multicast;
	__u64 collisions;
	__u64 rx_length_errors;
	__u64 rx_over_errors;
	__u64 rx_crc_errors;
	__u64 rx_frame_errors;
	__u64 rx_fifo_errors;
	__u64 rx_missed_errors;
	__u64 tx_aborted_errors;
	__u64 tx_carrier_errors;
	__u64 tx_fifo_errors;
	__u64 tx_heartbeat_errors;
	__u64 tx_window_errors;
	__u64 rx_compressed;
	__u64 tx_compressed;
	__u64 rx_nohandler;
	__u64 rx_otherhost_dropped;
	__u32 carrier;		/* 0 or 1 */
	__u32 carrier_changes;
	__u32 operstate;	/* IF_OPER_*, RFC 2863: 6 is up */
	__u32 mtu;		/* bytes */
};

/*
 * DART_ZERO_SOURCE_SOCKETS: /proc/net/sockstat and sockstat6 of a namespace but for what
 * DART_ZERO_SOURCE_SOCKETS_HOST has, memory in bytes, and the connections that the
 * namespace tracks.
 */
struct dart_zero_sockets {
	__u32 used;
	__u32 tcp_inuse;
	__u32 tcp_tw;
	__u32 udp_inuse;
	__u32 udplite_inuse;
	__u32 raw_inuse;
	__u32 frag_inuse;
	__u32 tcp6_inuse;
	__u32 udp6_inuse;
	__u32 udplite6_inuse;
	__u32 raw6_inuse;
	__u32 frag6_inuse;
	__u64 frag_memory;
	__u64 frag6_memory;
	/* 0 without nf_conntrack; /proc/net/stat/nf_conntrack */
	__u32 conntrack_limit;	/* the same in each namespace */
	__u32 conntrack_entries;
	__u32 conntrack_invalid;
	__u32 conntrack_insert_failed;
	__u32 conntrack_drop;
	__u32 conntrack_early_drop;
};

/*
 * DART_ZERO_SOURCE_SOCKETS_HOST: what /proc/net/sockstat shows in each namespace and is
 * that of all of them together, IPv6 included; memory in bytes.
 */
struct dart_zero_sockets_host {
	__u64 tcp_orphan;
	__u64 tcp_alloc;
	__u64 tcp_mem;
	__u64 udp_mem;
	__u64 page_size;	/* of the kernel */
};

/*
 * DART_ZERO_SOURCE_DISK_IO: the columns of /proc/diskstats, with the names of
 * Documentation/block/stat.rst.  Sectors have 512 bytes, ticks are milliseconds.
 */
struct dart_zero_disk_io {
	__u64 read_ios;
	__u64 read_merges;
	__u64 read_sectors;
	__u64 read_ticks;
	__u64 write_ios;
	__u64 write_merges;
	__u64 write_sectors;
	__u64 write_ticks;
	__u64 in_flight;
	__u64 io_ticks;
	__u64 time_in_queue;
	__u64 discard_ios;
	__u64 discard_merges;
	__u64 discard_sectors;
	__u64 discard_ticks;
	__u64 flush_ios;
	__u64 flush_ticks;
};

/*
 * DART_ZERO_SOURCE_FILESYSTEM: what statvfs() tells of a mount point.  The time of the record is
 * the time of the question, one interval or more earlier: the next values come when the file system
 * has answered.  The file system can be unmounted at any time.  The texts are as in
 * /proc/1/mountinfo, without escapes; they end with NUL, and longer texts are cut off.
 */
struct dart_zero_filesystem {
	__u64 size;
	__u64 free;
	__u64 available;	/* free for processes without privileges */
	__u64 files;		/* files and free ones, where there is a limit */
	__u64 files_free;
	__u64 read_only;	/* 0 or 1 */
	char device[56];	/* what is mounted; empty if no program tells */
	char fstype[32];	/* "ext4", "fuse.sshfs" */
};

/*
 * What a program answers for DART_ZERO_SOURCE_FILESYSTEM: the first of @values is the
 * address of the struct vfsmount, and this takes its place.
 */
struct dart_zero_mount_device {
	char device[56];
};

#endif /* _UAPI_LINUX_DART_ZERO_SAMPLES_H */
