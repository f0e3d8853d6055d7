// SPDX-License-Identifier: GPL-2.0-only
/* Checks the certificate that dartd shows to callers over TCP. */
#include <libdart/configuration/configuration.h>
#include <libdart/tls_places.h>

#include "checks.h"
#include "tools/doctor/certificate.h"

void check_own_certificate(struct findings *findings)
{
	struct dart_configuration configuration;
	struct dart_error error;

	/* dartd itself reports mistakes in its configuration; check the default file then. */
	if (dart_configuration__load(&configuration, DART_CONFIGURATION_FILE, &error)) {
		check_certificate(findings, DART_TLS_HOST_CERTIFICATE);
		return;
	}
	check_certificate(findings, configuration.tcp.certificate ?:
					    DART_TLS_HOST_CERTIFICATE);
	dart_configuration__close(&configuration);
}
