// SPDX-License-Identifier: GPL-2.0-only
/* Loads certificates: see certificates.h. */
#include <unistd.h>

#include "certificates.h"

int certificates__load(const struct settings_tls *files, struct dart_tls **tls,
		       struct dart_error *error)
{
	const struct dart_tls_files paths = {
		.certificate = files->certificate,
		.key = files->key,
		.authorities = files->authorities,
		.revoked = files->revoked,
	};
	static const struct dart_tls_files usual = {
		.certificate = DART_TLS_CONTROLLER_CERTIFICATE,
		.key = DART_TLS_CONTROLLER_KEY,
		.authorities = DART_TLS_AUTHORITIES,
		.revoked = DART_TLS_REVOKED,
	};
	struct dart_tls *loaded;
	int err;

	/*
	 * Reading over RDMA needs no certificate, and this user may lack permission to read the
	 * key.
	 */
	if (!paths.certificate && access(usual.key, R_OK))
		return 0;
	err = dart_tls__load(paths.certificate ? &paths : &usual, &loaded, error);
	if (err)
		return err;
	dart_tls__put(*tls);
	*tls = loaded;
	return 0;
}
