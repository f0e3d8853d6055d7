/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of certificates and keys, which are created completely, with owner and mode, or not at all.
 */
#ifndef TLS_FILES_H
#define TLS_FILES_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <sys/types.h>

#include <libdart/error.h>

/* A file to be written. */
struct tls_file {
	const char *name;	/* below the directory */
	const gnutls_datum_t *text;
	bool is_private;	/* else every user may read it */
	const char *group;	/* also reads a private file; or NULL */
};

/* Makes @directory with @mode unless it exists.  Returns 0, or -errno with a sentence. */
int tls_files__make_directory(const char *directory, mode_t mode, struct dart_error *error);
/* Returns 0 if the group exists, or if this user is not root and so cannot share keys with it. */
int tls_files__check_group(const char *group, struct dart_error *error);
bool tls_files__exist(const char *directory, const char *name);

/*
 * Writes all @count files; each gets its contents, owner and mode before its name.  Unless
 * @may_replace, refuses to replace existing files, and changes nothing.
 */
int tls_files__write(const char *directory, const struct tls_file *files,
		     size_t count, bool may_replace, struct dart_error *error);

/* Reads a whole file, which gnutls_free() frees; -ENOENT if it does not exist. */
int tls_files__read(const char *directory, const char *name,
		    gnutls_datum_t *text, struct dart_error *error);

#endif /* TLS_FILES_H */
