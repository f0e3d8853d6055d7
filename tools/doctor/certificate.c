// SPDX-License-Identifier: GPL-2.0-only
/* Warns of a certificate before it expires, and finds one that no machine accepts yet. */
#include <time.h>
#include <unistd.h>

#include <libdart/rpc/tls.h>

#include "certificate.h"

#define HOUR 3600
#define DAY (24 * HOUR)
#define WARN_DAYS 30

void check_certificate(struct findings *findings, const char *path)
{
	struct dart_error error;
	int64_t since, until, left;
	const int64_t now = time(NULL);

	if (access(path, F_OK))
		return;
	if (dart_tls__validity(path, &since, &until, &error)) {
		findings__fail(findings, "certificate", "%s", error.text);
		findings__advise(findings, "make another one where the authority is");
		findings__command(findings, "dartctl tls renew NAME");
		return;
	}
	if (since > now) {
		findings__fail(
			findings, "certificate",
			"%s is valid in %lld hours only, by the clock of this machine: no other machine accepts it",
			path, (long long)((since - now + HOUR - 1) / HOUR));
		findings__advise(
			findings,
			"set the clocks of this machine and of the authority; if they are right, make the certificate again");
		findings__command(findings, "dartctl tls renew NAME");
		return;
	}
	left = until - now;
	if (left > WARN_DAYS * DAY) {
		findings__ok(findings, "certificate", "%s is valid for %lld more days", path,
			     (long long)(left / DAY));
		return;
	}
	if (left > 0)
		findings__warn(findings, "certificate", "%s expires in %lld days", path,
			       (long long)(left / DAY));
	else
		findings__fail(findings, "certificate",
			       "%s has expired %lld days ago: no other machine accepts it",
			       path, (long long)(-left / DAY));
	findings__advise(findings,
			 "renew it where the authority is, install it, and reload the service");
	findings__command(findings, "dartctl tls renew NAME");
}
