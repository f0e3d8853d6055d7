// SPDX-License-Identifier: GPL-2.0-only
/* Warns of a certificate before it expires, which would end all connections over TCP. */
#include <time.h>
#include <unistd.h>

#include <libdart/rpc/tls.h>

#include "certificate.h"

#define DAY (24 * 3600)
#define WARN_DAYS 30

void check_certificate(struct findings *findings, const char *path)
{
	struct dart_error error;
	int64_t expires, left;

	if (access(path, F_OK))
		return;
	if (dart_tls__expiry(path, &expires, &error)) {
		findings__fail(findings, "certificate", "%s", error.text);
		findings__advise(findings, "make another one where the authority is");
		findings__command(findings, "dartctl tls renew NAME");
		return;
	}
	left = expires - time(NULL);
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
