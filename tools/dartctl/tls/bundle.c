// SPDX-License-Identifier: GPL-2.0-only
/* Takes certificates to another machine: see bundle.h. */
#include "bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/tls_places.h>

#include "files.h"
#include "revocation.h"

#define AUTHORITIES_FILE "authorities.pem"
#define BLOCKS_MAX	 16

static int copy(gnutls_datum_t *to, const void *bytes, size_t size, struct dart_error *error)
{
	to->data = gnutls_malloc(size + 1);
	if (!to->data)
		return dart_error__no_memory(error);
	memcpy(to->data, bytes, size);
	to->data[size] = '\0';
	to->size = size;
	return 0;
}

int tls_bundle__make(struct tls_bundle *bundle, const char *directory, enum tls_kind kind,
		     const struct tls_pair *pair, struct dart_error *error)
{
	int ret;

	*bundle = (struct tls_bundle){ .kind = kind };
	ret = copy(&bundle->certificate, pair->certificate.data, pair->certificate.size, error) ?:
		      copy(&bundle->key, pair->key.data, pair->key.size, error)			?:
		      tls_files__read(directory, AUTHORITIES_FILE, &bundle->authorities, error);
	if (!ret && tls_files__exist(directory, TLS_REVOKED_FILE))
		ret = tls_files__read(directory, TLS_REVOKED_FILE, &bundle->revoked, error);
	if (ret)
		tls_bundle__clear(bundle);
	return ret;
}

void tls_bundle__clear(struct tls_bundle *bundle)
{
	if (bundle->key.data)
		gnutls_memset(bundle->key.data, 0, bundle->key.size);
	gnutls_free(bundle->certificate.data);
	gnutls_free(bundle->key.data);
	gnutls_free(bundle->authorities.data);
	gnutls_free(bundle->revoked.data);
	*bundle = (struct tls_bundle){};
}

/* ---- reading */

static int refuse(struct dart_error *error, const char *why)
{
	return dart_error__set(
		error, EINVAL,
		"this is not from dartctl tls: %s (make it with dartctl tls create --output)", why);
}

/* Assigns a PEM block to its member: the first certificate is the machine's own. */
static int take_block(struct tls_bundle *bundle, const char *begin, size_t size,
		      struct dart_error *error)
{
	const char *const label = begin + strlen("-----BEGIN ");
	gnutls_datum_t *to = NULL;

	if (!strncmp(label, "CERTIFICATE-----", 16))
		to = !bundle->certificate.data ? &bundle->certificate : &bundle->authorities;
	else if (!strncmp(label, "X509 CRL-----", 13))
		to = &bundle->revoked;
	else if (!strncmp(label, "EC PRIVATE KEY-----", 19) ||
		 !strncmp(label, "PRIVATE KEY-----", 16))
		to = &bundle->key;
	if (!to)
		return refuse(error, "it has a part of another kind");
	if (to->data)
		return refuse(error, "it has a part twice");
	return copy(to, begin, size, error);
}

static int take_blocks(struct tls_bundle *bundle, const char *text, struct dart_error *error)
{
	const char *begin = strstr(text, "-----BEGIN "), *end;
	int count = 0, ret = 0;

	for (; begin && !ret; begin = strstr(end, "-----BEGIN ")) {
		end = strstr(begin, "\n-----END ");
		if (end)
			end = strstr(end + 10, "-----");
		if (!end || ++count > BLOCKS_MAX)
			return refuse(error, "it is not whole");
		end += 5;
		end += *end == '\n';
		ret = take_block(bundle, begin, end - begin, error);
	}
	return ret;
}

static int import_certificate(const gnutls_datum_t *text, gnutls_x509_crt_t *certificate)
{
	int ret = gnutls_x509_crt_init(certificate);

	return ret < 0 ? ret : gnutls_x509_crt_import(*certificate, text, GNUTLS_X509_FMT_PEM);
}

static bool is_signed(gnutls_x509_crt_t certificate, gnutls_x509_crt_t by)
{
	unsigned int status = 0;

	return !gnutls_x509_crt_verify(certificate, &by, 1, 0, &status) && !status;
}

static bool is_key_of(const gnutls_datum_t *key, gnutls_x509_crt_t certificate)
{
	uint8_t one[64], other[64];
	size_t size = sizeof(one), other_size = sizeof(other);
	gnutls_x509_privkey_t parsed;
	bool is_same;

	if (gnutls_x509_privkey_init(&parsed) < 0)
		return false;
	is_same = gnutls_x509_privkey_import(parsed, key, GNUTLS_X509_FMT_PEM) >= 0 &&
		  gnutls_x509_privkey_get_key_id(parsed, 0, one, &size) >= 0 &&
		  gnutls_x509_crt_get_key_id(certificate, 0, other, &other_size) >= 0 &&
		  size == other_size && !memcmp(one, other, size);
	gnutls_x509_privkey_deinit(parsed);
	return is_same;
}

/* Has @by signed the list of revoked certificates? */
static bool is_list_of(const gnutls_datum_t *text, gnutls_x509_crt_t by)
{
	unsigned int status = 0;
	gnutls_x509_crl_t list;
	bool is_right;

	if (gnutls_x509_crl_init(&list) < 0)
		return false;
	is_right = gnutls_x509_crl_import(list, text, GNUTLS_X509_FMT_PEM) >= 0 &&
		   !gnutls_x509_crl_verify(list, &by, 1, 0, &status) && !status;
	gnutls_x509_crl_deinit(list);
	return is_right;
}

static int check_pair(struct tls_bundle *bundle, gnutls_x509_crt_t authority,
		      struct dart_error *error)
{
	gnutls_x509_crt_t certificate = NULL;
	int ret = 0;

	if (!bundle->key.data || !bundle->certificate.data)
		return refuse(error, "it has no certificate with its key");
	if (import_certificate(&bundle->certificate, &certificate) < 0)
		ret = refuse(error, "its certificate cannot be read");
	else if (!is_signed(certificate, authority))
		ret = refuse(error, "its authority has not signed its certificate, or it has expired");
	else if (!is_key_of(&bundle->key, certificate))
		ret = refuse(error, "its key is of another certificate");
	else
		bundle->kind = tls_certificate__kind(certificate);
	if (certificate)
		gnutls_x509_crt_deinit(certificate);
	return ret;
}

int tls_bundle__parse(struct tls_bundle *bundle, const gnutls_datum_t *text,
		      const char *directory, struct dart_error *error)
{
	gnutls_x509_crt_t authority = NULL;
	bool is_list;
	int ret;

	*bundle = (struct tls_bundle){};
	ret = take_blocks(bundle, (const char *)text->data, error);
	is_list = !bundle->certificate.data && !bundle->key.data && bundle->revoked.data;
	if (!ret && is_list)
		ret = tls_files__read(directory, AUTHORITIES_FILE, &bundle->authorities, error);
	if (!ret && !bundle->authorities.data)
		ret = refuse(error, "it has no authority");
	if (!ret && import_certificate(&bundle->authorities, &authority) < 0)
		ret = refuse(error, "its authority cannot be read");
	if (!ret && !is_list)
		ret = check_pair(bundle, authority, error);
	if (!ret && bundle->revoked.data && !is_list_of(&bundle->revoked, authority))
		ret = refuse(error,
			     "its list of revoked certificates is not signed by the authority");
	if (authority)
		gnutls_x509_crt_deinit(authority);
	if (ret)
		tls_bundle__clear(bundle);
	return ret;
}

/* ---- writing */

static bool is_there(const char *directory, const char *name, const gnutls_datum_t *text)
{
	struct dart_error error;
	gnutls_datum_t own;
	bool is_same;

	if (!tls_files__exist(directory, name) || tls_files__read(directory, name, &own, &error))
		return false;
	is_same = own.size == text->size && !memcmp(own.data, text->data, own.size);
	gnutls_free(own.data);
	return is_same;
}

/* Refuse to replace another authority, which would invalidate all its certificates. */
static int check_authority(const struct tls_bundle *bundle, const char *directory, bool may_replace,
			   struct dart_error *error)
{
	if (may_replace || !tls_files__exist(directory, AUTHORITIES_FILE) ||
	    is_there(directory, AUTHORITIES_FILE, &bundle->authorities))
		return 0;
	return dart_error__set(
		error, EEXIST,
		"'%s/%s' has another authority (--replace takes the new one, and ends the trust in the old one)",
		directory, AUTHORITIES_FILE);
}

/*
 * Has @directory a newer list of the same authority?  An older one would make this machine accept
 * certificates again that were revoked since.
 */
static bool has_newer_list(const struct tls_bundle *bundle, const char *directory)
{
	gnutls_x509_crt_t authority = NULL;
	struct dart_error error;
	gnutls_datum_t own;
	bool is_newer;

	if (!tls_files__exist(directory, TLS_REVOKED_FILE) ||
	    tls_files__read(directory, TLS_REVOKED_FILE, &own, &error))
		return false;
	is_newer = import_certificate(&bundle->authorities, &authority) >= 0 &&
		   is_list_of(&own, authority) && tls_revocation__is_older(&bundle->revoked, &own);
	if (authority)
		gnutls_x509_crt_deinit(authority);
	gnutls_free(own.data);
	return is_newer;
}

static int install_list(const struct tls_bundle *bundle, const char *directory,
			struct dart_error *error)
{
	const struct tls_file list = { .name = TLS_REVOKED_FILE, .text = &bundle->revoked };

	if (!bundle->revoked.data || is_there(directory, TLS_REVOKED_FILE, &bundle->revoked))
		return 0;
	if (!has_newer_list(bundle, directory))
		return tls_files__write(directory, &list, 1, true, error);
	/* The list that is there goes with the certificate of the bundle, too. */
	return bundle->certificate.data ?
		       0 :
		       dart_error__set(error, ESTALE, "'%s/%s' is a newer list", directory,
				       TLS_REVOKED_FILE);
}

static const char *reader_of(enum tls_kind kind, const char *directory)
{
	return strcmp(directory, DART_TLS_DIRECTORY) ? NULL : tls_roles[kind].group;
}

int tls_bundle__check_reader(enum tls_kind kind, const char *directory, struct dart_error *error)
{
	const char *group = reader_of(kind, directory);

	return group ? tls_files__check_group(group, error) : 0;
}

/*
 * The file of the key contains the certificate too, so that one rename() replaces both: programs use
 * that certificate while the file of the certificate does not fit.
 */
static int join_pair(const struct tls_bundle *bundle, gnutls_datum_t *pair,
		     struct dart_error *error)
{
	const gnutls_datum_t *key = &bundle->key, *certificate = &bundle->certificate;

	pair->data = gnutls_malloc(key->size + certificate->size);
	if (!pair->data)
		return dart_error__no_memory(error);
	memcpy(pair->data, key->data, key->size);
	memcpy(pair->data + key->size, certificate->data, certificate->size);
	pair->size = key->size + certificate->size;
	return 0;
}

static int install_pair(const struct tls_bundle *bundle, const char *directory, bool may_replace,
			struct dart_error *error)
{
	gnutls_datum_t joined = {};
	const struct tls_file pair[] = {
		{ .name = tls_roles[bundle->kind].key, .text = &joined,
		  .group = reader_of(bundle->kind, directory),
		  .is_private = true },
		{ .name = tls_roles[bundle->kind].certificate, .text = &bundle->certificate },
	};
	int ret = join_pair(bundle, &joined, error);

	if (ret)
		return ret;
	ret = tls_files__write(directory, pair, 2, may_replace, error);
	gnutls_memset(joined.data, 0, joined.size);
	gnutls_free(joined.data);
	return ret;
}

int tls_bundle__install(const struct tls_bundle *bundle, const char *directory,
			bool may_replace, struct dart_error *error)
{
	const struct tls_file authorities = { .name = AUTHORITIES_FILE,
					      .text = &bundle->authorities };
	int ret;

	if (!bundle->certificate.data)
		return install_list(bundle, directory, error);
	ret = tls_files__make_directory(directory, 0755, error) ?:
		      check_authority(bundle, directory, may_replace, error) ?:
		      install_pair(bundle, directory, may_replace, error);
	if (!ret && !is_there(directory, AUTHORITIES_FILE, &bundle->authorities))
		ret = tls_files__write(directory, &authorities, 1, true, error);
	return ret ?: install_list(bundle, directory, error);
}

static int write_to(FILE *out, const struct tls_bundle *bundle)
{
	const gnutls_datum_t *const parts[] = {
		&bundle->certificate,
		&bundle->key,
		&bundle->authorities,
		&bundle->revoked,
	};
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i]->data &&
		    fwrite(parts[i]->data, 1, parts[i]->size, out) != parts[i]->size)
			return -EIO;
	return fflush(out) ? -errno : 0;
}

int tls_bundle__write(const struct tls_bundle *bundle, const char *path, struct dart_error *error)
{
	FILE *out;
	int fd, ret;

	if (!strcmp(path, "-")) {
		ret = write_to(stdout, bundle);
		return ret ? dart_error__system(error, -ret, "cannot write the files") : 0;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot create '%s'", path);
	out = fdopen(fd, "w");
	if (!out) {
		ret = -errno;
		close(fd);
	} else {
		ret = write_to(out, bundle);
		if (!ret && fsync(fd))
			ret = -errno;
		fclose(out);
	}
	if (!ret)
		return 0;
	unlink(path);
	return dart_error__system(error, -ret, "cannot write '%s'", path);
}
