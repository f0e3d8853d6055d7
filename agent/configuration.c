// SPDX-License-Identifier: GPL-2.0-only
/* Loads the configuration, and keeps the settings of the last valid one. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/log.h"
#include "check.h"
#include "configuration.h"

int configuration__load(struct dart_configuration *configuration, const struct options *options,
			struct dart_error *error)
{
	int ret;

	ret = dart_configuration__load(configuration, options->config, error);
	if (ret == -ENOENT && !options->is_config_given) {
		*configuration = (struct dart_configuration){ };
		return 0;
	}
	if (ret)
		return ret;
	ret = check__items(configuration, NULL, error);
	if (ret)
		dart_configuration__close(configuration);
	return ret;
}

static int kept_path(const struct options *options, const char *suffix, char path[PATH_MAX])
{
	int length = snprintf(path, PATH_MAX, "%s/" CONFIGURATION_KEPT "%s",
			      options->state, suffix);

	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int configuration__load_or_last(struct dart_configuration *configuration,
				const struct options *options, bool *is_last,
				struct dart_error *error)
{
	int ret = configuration__load(configuration, options, error);
	struct dart_error reason;
	char path[PATH_MAX];

	*is_last = false;
	if (!ret || kept_path(options, "", path) ||
	    dart_configuration__load_file(configuration, path, &reason))
		return ret;
	log__error("%s (the last valid configuration is used until this is mended and reloaded)",
		   error->text);
	*is_last = true;
	return 0;
}

static int write_kept(const struct dart_configuration *configuration, const char *path)
{
	mode_t mask = umask(0077);
	FILE *file = fopen(path, "we");
	int ret = 0;

	umask(mask);
	if (!file)
		return -errno;
	ret = dart_configuration__print_settings(file, configuration);
	if (!ret && (fflush(file) || fsync(fileno(file))))
		ret = -errno;
	if (fclose(file) && !ret)
		ret = -errno;
	return ret;
}

void configuration__keep(const struct dart_configuration *configuration,
			 const struct options *options)
{
	char path[PATH_MAX], written[PATH_MAX];
	int ret;

	ret = kept_path(options, "", path) ?:
		      kept_path(options, ".new", written) ?:
		      write_kept(configuration, written);
	if (!ret && rename(written, path))
		ret = -errno;
	if (ret)
		log__warning("dartd would not start with an invalid configuration: cannot write %s: %s",
			     path, strerror(-ret));
}
