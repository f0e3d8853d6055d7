// SPDX-License-Identifier: GPL-2.0-only
/* dartctl doctor: finds the faults that keep this host from being monitored. */
#include <libdart/configuration/configuration.h>
#include <libdart/tls_places.h>
#include <string.h>

#include "checks.h"
#include "tools/dartctl/cli/command.h"
#include "tools/doctor/certificate.h"
#include "tools/doctor/firewall.h"
#include "tools/doctor/rp_filter.h"
#include "tools/doctor/transport.h"

/* Checks the certificate that dartd shows to callers over TCP. */
static void check_own_certificate(struct findings *findings)
{
	struct dart_configuration configuration;
	struct dart_error error;

	/* dartd itself reports mistakes in its configuration; check the default file then. */
	if (dart_configuration__load(&configuration, DART_CONFIGURATION_FILE, &error)) {
		check_certificate(findings, DART_TLS_HOST_CERTIFICATE);
		return;
	}
	check_certificate(findings, configuration.tcp.certificate ?: DART_TLS_HOST_CERTIFICATE);
	dart_configuration__close(&configuration);
}

static enum transport_use use_of(const json_t *stores)
{
	const char *transport;
	json_t *store;
	size_t i;

	json_array_foreach(stores, i, store) {
		transport = json_string_value(json_object_get(store, "transport"));
		if (transport && !strcmp(transport, "uc"))
			return TRANSPORT_OF_UNRELIABLE;
	}
	return i ? TRANSPORT_OF_STORES : TRANSPORT_OF_HOST;
}

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
		check_transport(&findings, &port, use_of(agent.stores));
		check_device_limits(&findings, &port);
	}
	check_clock(&findings);
	check_own_certificate(&findings);
	check_limits(&findings, &agent);
	check_huge_pages(&findings, &agent);

	running_agent__close(&agent);
	return findings__close(&findings);
}
