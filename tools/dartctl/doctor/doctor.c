// SPDX-License-Identifier: GPL-2.0-only
/* dartctl doctor: finds out what keeps this host from being monitored. */
#include "checks.h"
#include "tools/dartctl/cli/command.h"
#include "tools/doctor/firewall.h"
#include "tools/doctor/rp_filter.h"

int command_doctor(const struct options *options, int argc, char **argv)
{
	struct running_agent agent;
	struct findings findings;
	struct rdma_port port;
	const char *device;

	findings__open(&findings, options->json);
	check_kernel(&findings);
	check_module(&findings);
	check_agent(&findings, options->socket, &agent);
	check_coverage(&findings, &agent);
	device = json_string_value(json_object_get(agent.status, "device"));

	check_rdma_cm(&findings);
	if (check_rdma_port(&findings, &port, device)) {
		check_firewall(&findings, &port, "dartctl doctor");
		check_rp_filter(&findings, &port);
		check_device_limits(&findings, &port);
	}
	check_clock(&findings);
	check_own_certificate(&findings);
	check_limits(&findings, &agent);
	check_huge_pages(&findings, &agent);

	running_agent__close(&agent);
	return findings__close(&findings);
}
