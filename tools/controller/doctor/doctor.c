// SPDX-License-Identifier: GPL-2.0-only
/* dart-controller doctor: examines the way from this machine to a host. */
#include <netdb.h>
#include <stdlib.h>

#include <libdart/rdma/address.h>

#include "connection.h"
#include "doctor.h"
#include "reads.h"

/* The address of the host, which the caller frees; NULL after a finding. */
static char *check_name(struct findings *findings, const char *host)
{
	char *address;
	int ret = dart_address__resolve(host, &address);

	if (!ret) {
		findings__ok(findings, "name", "%s has the address %s", host,
			     address);
		return address;
	}
	findings__fail(findings, "name", "cannot resolve '%s': %s", host,
		       gai_strerror(ret));
	findings__command(findings, "getent hosts %s", host);
	return NULL;
}

int doctor__run(const struct options *options)
{
	const struct target_settings *target = options->settings.targets;
	struct connection connection = { .target = target };
	struct findings findings;
	char *address;

	findings__open(&findings, options->json);
	check_rdma_cm(&findings);
	address = check_name(&findings, target->host);
	if (!address)
		return findings__close(&findings);
	connection.address = address;
	if (check_connection(&findings, &connection)) {
		check_mtu(&findings, &connection);
		check_remote_clock(&findings, &connection);
		check_reads(&findings, &connection, &options->settings);
		dart_endpoint__free(connection.endpoint);
	}
	free(address);
	return findings__close(&findings);
}
