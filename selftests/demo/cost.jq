# SPDX-License-Identifier: GPL-2.0-only
# cost: the host's share between two outputs of ../host_counts: of the agent, and of the kernel,
# which does the work of an adapter here (soft-RoCE), and starts the program that looks at it. The
# kernel's time is known to 10 ms.
def cost($before; $after): {
	agent_context_switches: ($after.switches - $before.switches),
	agent_waits: ($after.waits - $before.waits),
	agent_cpu_ns: ($after.cpu_ns - $before.cpu_ns),
	kernel_ns: {
		system: ($after.system_ns - $before.system_ns),
		softirq: ($after.softirq_ns - $before.softirq_ns +
			$after.interrupt_ns - $before.interrupt_ns)
	}
};
