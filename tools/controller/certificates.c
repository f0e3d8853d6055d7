// SPDX-License-Identifier: GPL-2.0-only
/* Loads certificates: see certificates.h. */
#include "certificates.h"

int certificates__load(const struct settings_tls *files, struct dart_tls **tls,
		       struct dart_error *error)
{
	const struct dart_tls_files paths = {
		.certificate = files->certificate,
		.key = files->key,
		.authorities = files->authorities,
	};
	struct dart_tls *loaded;
	int err;

	if (!paths.certificate)
		return 0;
	err = dart_tls__load(&paths, &loaded, error);
	if (err)
		return err;
	dart_tls__put(*tls);
	*tls = loaded;
	return 0;
}
