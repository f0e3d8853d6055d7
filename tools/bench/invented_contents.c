// SPDX-License-Identifier: GPL-2.0-only
/* Families of real hosts, and meaningless ones: see invented_contents.h. */
#include <string.h>

#include "invented_contents.h"
#include "invented_made.h"

static void add_cpus(struct made *made, unsigned int cpus)
{
	static const char *const modes[] = { "idle", "iowait", "irq", "nice",
					     "softirq", "steal", "system", "user" };
	static const struct kind seconds = {
		"node_cpu_seconds_total", "Seconds the CPUs spent in each mode.",
		"seconds", METRIC_COUNTER, INVENTED_CPU, 1
	};
	static const struct kind drops = {
		"node_softnet_dropped_total", "Number of dropped packets.", "",
		METRIC_COUNTER, INVENTED_RARE, 0.01
	};
	static const struct kind squeezed = {
		"node_softnet_times_squeezed_total",
		"Number of times processing packets ran out of quota.", "",
		METRIC_COUNTER, INVENTED_RATE, 3
	};
	struct metric_label cpu = { "cpu", NULL }, mode = { "mode", NULL };
	unsigned int i, k;
	struct row *row;

	for (i = 0; i < cpus; i++) {
		cpu.value = made__print(made, "%u", i);
		for (k = 0; k < 8; k++) {
			mode.value = modes[k];
			row = made__add(made, &seconds, &cpu, &mode);
			row->motion.unit = i;
			row->motion.part = k;
		}
		made__add(made, &drops, &cpu, NULL);
		made__add(made, &squeezed, &cpu, NULL);
	}
}

static void add_devices(struct made *made, bool is_hostile)
{
	static const struct kind kinds[] = {
		{ "node_network_receive_bytes_total",
		  "Network device statistic receive_bytes.", "bytes",
		  METRIC_COUNTER, INVENTED_RATE, 2e7 },
		{ "node_network_transmit_bytes_total",
		  "Network device statistic transmit_bytes.", "bytes",
		  METRIC_COUNTER, INVENTED_RATE, 9e6 },
		{ "node_network_receive_packets_total",
		  "Network device statistic receive_packets.", "",
		  METRIC_COUNTER, INVENTED_RATE, 2e4 },
		{ "node_network_transmit_packets_total",
		  "Network device statistic transmit_packets.", "",
		  METRIC_COUNTER, INVENTED_RATE, 1e4 },
		{ "node_network_receive_errs_total",
		  "Network device statistic receive_errs.", "", METRIC_COUNTER,
		  INVENTED_RARE, 0.02 },
		{ "node_network_receive_drop_total",
		  "Network device statistic receive_drop.", "", METRIC_COUNTER,
		  INVENTED_RARE, 0.05 },
	};
	static const struct kind disks[] = {
		{ "node_disk_read_bytes_total", "The total number of bytes read successfully.",
		  "bytes", METRIC_COUNTER, INVENTED_RATE, 4e6 },
		{ "node_disk_written_bytes_total",
		  "The total number of bytes written successfully.", "bytes", METRIC_COUNTER,
		  INVENTED_RATE, 1.5e7 },
		{ "node_disk_io_time_seconds_total", "Total seconds spent doing I/Os.", "seconds",
		  METRIC_COUNTER, INVENTED_RATE, 0.2 },
	};
	static const char *const hostile[] = {
		"<script>window.hacked=1</script>",
		"\"><img src=x onerror=window.hacked=1>",
		"\x01\x02\x1b[31m\nnew line\ttab",
	};
	struct metric_label device = { "device", NULL };
	char name[256];
	size_t i, k;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (k = 0; k < 3; k++) {
			device.value = made__print(made, "eth%zu", k);
			made__add(made, &kinds[i], &device, NULL);
		}
		for (k = 0; is_hostile && k < 3; k++) {
			device.value = hostile[k];
			made__add(made, &kinds[i], &device, NULL);
		}
		if (!is_hostile)
			continue;
		memset(name, 'x', 255);
		name[255] = '\0';
		device.value = made__print(made, "%s", name);
		made__add(made, &kinds[i], &device, NULL);
	}
	for (i = 0; i < sizeof(disks) / sizeof(disks[0]); i++)
		for (k = 0; k < 2; k++) {
			device.value = made__print(made, "nvme%zun1", k);
			made__add(made, &disks[i], &device, NULL);
		}
}

static void add_host(struct made *made)
{
	static const struct kind kinds[] = {
		{ "node_load1", "1m load average.", "", METRIC_GAUGE,
		  INVENTED_WALK, 2.2 },
		{ "node_load5", "5m load average.", "", METRIC_GAUGE,
		  INVENTED_WALK, 1.9 },
		{ "node_load15", "15m load average.", "", METRIC_GAUGE,
		  INVENTED_WALK, 1.7 },
		{ "node_memory_MemTotal_bytes",
		  "Memory information field MemTotal_bytes.", "bytes",
		  METRIC_GAUGE, INVENTED_CONSTANT, 67108864000 },
		{ "node_memory_MemAvailable_bytes",
		  "Memory information field MemAvailable_bytes.", "bytes",
		  METRIC_GAUGE, INVENTED_WALK, 2.2e10 },
		{ "node_memory_MemFree_bytes",
		  "Memory information field MemFree_bytes.", "bytes",
		  METRIC_GAUGE, INVENTED_WALK, 6e9 },
		{ "node_memory_Cached_bytes", "Memory information field Cached_bytes.", "bytes",
		  METRIC_GAUGE, INVENTED_WALK, 1.4e10 },
		{ "node_memory_Buffers_bytes", "Memory information field Buffers_bytes.", "bytes",
		  METRIC_GAUGE, INVENTED_WALK, 8e8 },
		{ "node_memory_SwapTotal_bytes",
		  "Memory information field SwapTotal_bytes.", "bytes",
		  METRIC_GAUGE, INVENTED_CONSTANT, 8589934592 },
		{ "node_memory_SwapFree_bytes",
		  "Memory information field SwapFree_bytes.", "bytes",
		  METRIC_GAUGE, INVENTED_CONSTANT, 8489271296 },
		{ "node_pressure_cpu_waiting_seconds_total",
		  "Total time in seconds that processes have waited for CPU time",
		  "seconds", METRIC_COUNTER, INVENTED_RATE, 0.08 },
		{ "node_pressure_io_waiting_seconds_total",
		  "Total time in seconds that processes have waited due to IO congestion",
		  "seconds", METRIC_COUNTER, INVENTED_RATE, 0.05 },
		{ "node_pressure_io_stalled_seconds_total",
		  "Total time in seconds no process could make progress due to IO congestion",
		  "seconds", METRIC_COUNTER, INVENTED_RATE, 0.02 },
		{ "node_pressure_memory_waiting_seconds_total",
		  "Total time in seconds that processes have waited for memory",
		  "seconds", METRIC_COUNTER, INVENTED_RATE, 0.01 },
		{ "node_netstat_Tcp_CurrEstab", "Statistic TcpCurrEstab.", "",
		  METRIC_UNTYPED, INVENTED_WALK, 400 },
		{ "node_netstat_Tcp_ActiveOpens", "Statistic TcpActiveOpens.",
		  "", METRIC_UNTYPED, INVENTED_RATE, 12 },
		{ "node_netstat_Tcp_PassiveOpens", "Statistic TcpPassiveOpens.",
		  "", METRIC_UNTYPED, INVENTED_RATE, 40 },
		{ "node_netstat_Tcp_RetransSegs", "Statistic TcpRetransSegs.",
		  "", METRIC_UNTYPED, INVENTED_RATE, 2 },
		{ "node_netstat_Tcp_InSegs", "Statistic TcpInSegs.", "",
		  METRIC_UNTYPED, INVENTED_RATE, 15000 },
		{ "node_netstat_Tcp_OutSegs", "Statistic TcpOutSegs.", "",
		  METRIC_UNTYPED, INVENTED_RATE, 9000 },
		{ "node_context_switches_total",
		  "Total number of context switches.", "", METRIC_COUNTER,
		  INVENTED_RATE, 42000 },
		{ "node_intr_total", "Total number of interrupts serviced.", "",
		  METRIC_COUNTER, INVENTED_RATE, 21000 },
		{ "node_forks_total", "Total number of forks.", "",
		  METRIC_COUNTER, INVENTED_RATE, 8 },
		{ "node_vmstat_pgfault", "Statistic pgfault.", "",
		  METRIC_UNTYPED, INVENTED_RATE, 7000 },
		{ "node_boot_time_seconds", "Node boot time, in unixtime.",
		  "seconds", METRIC_GAUGE, INVENTED_CONSTANT, 1700000000 },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		made__add(made, &kinds[i], NULL, NULL);
}

static void add_containers(struct made *made, unsigned int count)
{
	static const struct kind kinds[] = {
		{ "container_cpu_usage_seconds_total", "Cumulative cpu time consumed in seconds.",
		  "seconds", METRIC_COUNTER, INVENTED_RATE, 0.3 },
		{ "container_memory_working_set_bytes",
		  "Memory in use that cannot be reclaimed at once.", "bytes",
		  METRIC_GAUGE, INVENTED_WALK, 3e8 },
		{ "container_cpu_cfs_throttled_seconds_total",
		  "Total time duration the container has been throttled.",
		  "seconds", METRIC_COUNTER, INVENTED_RATE, 0.004 },
	};
	struct metric_label id = { "id", NULL };
	unsigned int i;
	struct row *row;
	size_t k;

	for (i = 0; i < count; i++) {
		id.value = made__print(made, "/system.slice/docker-%08x.scope", i * 2654435761U);
		for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			row = made__add(made, &kinds[k], &id, NULL);
			row->motion.base *= 0.2 + (i * 7 % 13) / 6.0;
		}
	}
}

static void add_histogram(struct made *made, const struct kind *kind)
{
	struct metric_label le = { "le", NULL };
	struct row *row;
	double limit;
	int i;

	for (i = 0; i <= 20; i++) {
		limit = i < 20 ? 1e-6 * (1 << i) : 1e9;
		le.value = i < 20 ? made__print(made, "%.9g", limit) : "+Inf";
		row = made__add(made, kind, &le, NULL);
		row->name = made__print(made, "%s_bucket", kind->family);
		row->motion.limit = limit;
	}
}

static void add_histograms(struct made *made)
{
	static const struct kind kinds[] = {
		{ "dart_biolat_seconds", "Latency of block I/O.", "seconds",
		  METRIC_HISTOGRAM, INVENTED_BUCKET, 300 },
		{ "dart_runqlat_seconds",
		  "Time that tasks waited on a run queue.", "seconds",
		  METRIC_HISTOGRAM, INVENTED_BUCKET, 5000 },
	};

	add_histogram(made, &kinds[0]);
	add_histogram(made, &kinds[1]);
}

static void fill_up(struct made *made, unsigned int series)
{
	struct kind kind = { .help = "A series of no meaning.", .unit = "" };
	struct metric_label row = { "row", NULL };
	unsigned int i;

	for (i = 0; made->count < series; i++) {
		if (i % 16 == 0) {
			kind.type = i / 16 % 3 ? METRIC_COUNTER : METRIC_GAUGE;
			kind.shape = i / 16 % 3 == 0 ? INVENTED_WALK :
				     i / 16 % 3 == 1 ? INVENTED_RARE :
						       INVENTED_RATE;
			kind.base = kind.shape == INVENTED_RARE ? 0.01 : 100;
			kind.family = made__print(
				made, kind.type == METRIC_COUNTER ?
					      "dart_invented_%u_total" :
					      "dart_invented_%u",
				i / 16);
		}
		row.value = made__print(made, "%u", i % 16);
		made__add(made, &kind, &row, NULL);
	}
}

void made__fill(struct made *made, const struct invented_size *size)
{
	add_host(made);
	add_cpus(made, size->cpus);
	add_devices(made, size->is_hostile);
	add_containers(made, size->containers);
	add_histograms(made);
	fill_up(made, size->series);
}
