// SPDX-License-Identifier: GPL-2.0-only
/* Signs certificates and lists of revoked ones: see authority.h. */
#include "authority.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <libdart/tls_places.h>

#include "files.h"

#define PRIVATE "authority"
#define KEY_FILE PRIVATE "/authority.key"
#define CERTIFICATE_FILE "authorities.pem"

#define DAY (24 * 3600)
#define SERIAL_BYTES 16
#define CURVE GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1)

static int failed(struct dart_error *error, const char *what, int code)
{
	return dart_error__set(error, EIO, "cannot %s: %s", what, gnutls_strerror(code));
}

bool tls_name__is_valid(const char *name)
{
	struct in6_addr address;
	const char *byte;
	size_t label = 0;

	if (inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1)
		return true;
	if (!*name || strlen(name) > 253)
		return false;
	for (byte = name; *byte; byte++) {
		if (*byte == '.') {
			if (!label || byte[-1] == '-')
				return false;
			label = 0;
			continue;
		}
		if (!isalnum((unsigned char)*byte) && *byte != '-' && *byte != '_')
			return false;
		if ((unsigned char)*byte >= 0x80 || (*byte == '-' && !label) || ++label > 63)
			return false;
	}
	return label && byte[-1] != '-';
}

/* ---- certificates */

bool tls_certificate__name(gnutls_x509_crt_t certificate, unsigned int i, char name[static 256])
{
	uint8_t bytes[256];
	size_t size = sizeof(bytes);
	int ret;

	ret = gnutls_x509_crt_get_subject_alt_name(certificate, i, bytes, &size, NULL);
	*name = '\0';
	if (ret == GNUTLS_SAN_DNSNAME)
		snprintf(name, 256, "%.*s", (int)size, (const char *)bytes);
	else if (ret == GNUTLS_SAN_IPADDRESS && size == 4)
		inet_ntop(AF_INET, bytes, name, 256);
	else if (ret == GNUTLS_SAN_IPADDRESS && size == 16)
		inet_ntop(AF_INET6, bytes, name, 256);
	return ret >= 0;
}

bool tls_certificate__has_name(gnutls_x509_crt_t certificate, const char *name)
{
	char own[256];
	unsigned int i;

	for (i = 0; tls_certificate__name(certificate, i, own); i++)
		if (!strcasecmp(own, name))
			return true;
	return false;
}

const struct tls_role tls_roles[TLS_KINDS] = {
	[TLS_HOST] = { "host", NULL, "host.pem", "host.key", "dart",
		       "certificate and key of this host, for dartd" },
	[TLS_CONTROLLER] = { "controller", DART_TLS_CONTROLLER_SUBJECT, "controller.pem",
			     "controller.key", "dart-controller",
			     "certificate and key of this controller, for dart-controller" },
	[TLS_FLOWS] = { "flows", DART_TLS_FLOWS_SUBJECT, "flows.pem", "flows.key", "dart-flows",
			"certificate and key of this machine, for dart-flows" },
};

const struct tls_role *tls_role__find(const char *subject)
{
	size_t i;

	for (i = 0; i < TLS_KINDS; i++)
		if (tls_roles[i].subject && !strcasecmp(tls_roles[i].subject, subject))
			return &tls_roles[i];
	return NULL;
}

enum tls_kind tls_certificate__kind(gnutls_x509_crt_t certificate)
{
	enum tls_kind kind;

	for (kind = TLS_HOST; kind < TLS_KINDS; kind++)
		if (tls_roles[kind].subject &&
		    tls_certificate__has_name(certificate, tls_roles[kind].subject))
			return kind;
	return TLS_HOST;
}

static int add_name(gnutls_x509_crt_t certificate, const char *name)
{
	struct in6_addr address;

	if (inet_pton(AF_INET, name, &address) == 1)
		return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS,
							    &address, 4, GNUTLS_FSAN_APPEND);
	if (inet_pton(AF_INET6, name, &address) == 1)
		return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS,
							    &address, 16, GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, name,
						    strlen(name), GNUTLS_FSAN_APPEND);
}

/* Sets the fields that all certificates have: a serial number, times, a name, a key. */
static int begin(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key,
		 const char *name, int64_t expires)
{
	uint8_t serial[SERIAL_BYTES];
	int ret = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));

	/* Keep the number positive and its length fixed. */
	serial[0] = (serial[0] & 0x7f) | 0x40;
	if (ret >= 0)
		ret = gnutls_x509_crt_set_version(certificate, 3);
	if (ret >= 0)
		ret = gnutls_x509_crt_set_serial(certificate, serial, sizeof(serial));
	/* Clocks of other machines may be slow. */
	if (ret >= 0)
		ret = gnutls_x509_crt_set_activation_time(certificate, time(NULL) - DAY);
	if (ret >= 0)
		ret = gnutls_x509_crt_set_expiration_time(certificate, expires);
	if (ret >= 0)
		ret = gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0,
						    name, strnlen(name, 64));
	return ret < 0 ? ret : gnutls_x509_crt_set_key(certificate, key);
}

/* ---- the authority */

static int make_key(gnutls_x509_privkey_t *key)
{
	int ret = gnutls_x509_privkey_init(key);

	return ret < 0 ? ret : gnutls_x509_privkey_generate(*key, GNUTLS_PK_ECDSA, CURVE, 0);
}

static int make_authority(struct tls_authority *authority)
{
	const int64_t expires = time(NULL) + (int64_t)TLS_AUTHORITY_DAYS * DAY;
	char host[65] = "", name[100];
	int ret = make_key(&authority->key);

	gethostname(host, sizeof(host) - 1);
	snprintf(name, sizeof(name), "dart authority of %s", host);
	if (ret >= 0)
		ret = begin(authority->certificate, authority->key, name, expires);
	if (ret >= 0)
		ret = gnutls_x509_crt_set_basic_constraints(authority->certificate, 1, 0);
	if (ret >= 0)
		ret = gnutls_x509_crt_set_key_usage(authority->certificate,
						    GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN);
	if (ret >= 0)
		ret = gnutls_x509_crt_sign2(authority->certificate, authority->certificate,
					    authority->key, GNUTLS_DIG_SHA256, 0);
	return ret;
}

static int make_directories(const char *directory, struct dart_error *error)
{
	static const char *const below[] = { PRIVATE, TLS_ISSUED, TLS_REVOKED };
	char path[PATH_MAX];
	int ret = tls_files__make_directory(directory, 0755, error);
	size_t i;

	for (i = 0; i < sizeof(below) / sizeof(*below) && !ret; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", directory, below[i]) >= PATH_MAX)
			return dart_error__set(error, ENAMETOOLONG, "'%s' is too long", directory);
		ret = tls_files__make_directory(path, 0700, error);
	}
	return ret;
}

/* Refuses to make an authority in the place of another one. */
static int check_new(const struct tls_authority *authority, struct dart_error *error)
{
	if (!tls_files__exist(authority->directory, CERTIFICATE_FILE))
		return 0;
	return dart_error__set(
		error, EEXIST,
		"'%s/%s' is of another authority, whose key is not here (run this where it is, or choose another --directory)",
		authority->directory, CERTIFICATE_FILE);
}

/*
 * Keeps other commands away until tls_authority__close(): two lists of revoked certificates that
 * were made at once would each lack what the other has.  Only the owner can open the directory.
 */
static int lock(struct tls_authority *authority, bool may_create, struct dart_error *error)
{
	const char *directory = authority->directory;
	char path[PATH_MAX];
	int ret = 0;

	if (snprintf(path, sizeof(path), "%s/" PRIVATE, directory) >= PATH_MAX)
		return dart_error__set(error, ENAMETOOLONG, "'%s' is too long", directory);
	if (may_create && !tls_files__exist(directory, PRIVATE))
		ret = check_new(authority, error) ?: make_directories(directory, error);
	if (ret)
		return ret;
	authority->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (authority->lock < 0 && errno == ENOENT)
		return dart_error__set(
			error, ENOENT,
			"there is no authority in '%s' (run this where dartctl tls create was run)",
			directory);
	if (authority->lock < 0 || flock(authority->lock, LOCK_EX))
		return dart_error__system(error, errno, "cannot lock '%s'", path);
	return 0;
}

static int create(struct tls_authority *authority, struct dart_error *error)
{
	gnutls_datum_t key = {}, certificate = {};
	/* Write the key first: a certificate without its key is useless. */
	const struct tls_file files[] = {
		{ .name = KEY_FILE, .text = &key, .is_private = true },
		{ .name = CERTIFICATE_FILE, .text = &certificate },
	};
	int ret = check_new(authority, error) ?: make_directories(authority->directory, error);

	if (ret)
		return ret;
	ret = gnutls_x509_crt_init(&authority->certificate);
	if (ret >= 0)
		ret = make_authority(authority);
	if (ret >= 0)
		ret = gnutls_x509_privkey_export2(authority->key, GNUTLS_X509_FMT_PEM, &key);
	if (ret >= 0)
		ret = gnutls_x509_crt_export2(authority->certificate,
					      GNUTLS_X509_FMT_PEM, &certificate);
	/* A key that is there has no certificate, and has signed nothing: see is_unfinished(). */
	ret = ret < 0 ? failed(error, "make an authority", ret) :
			tls_files__write(authority->directory, files, 2, true, error);
	gnutls_memset(key.data, 0, key.size);
	gnutls_free(key.data);
	gnutls_free(certificate.data);
	authority->is_new = !ret;
	return ret;
}

static int note_certificate(void *data, const char *file, gnutls_x509_crt_t certificate,
			    bool is_revoked)
{
	*(bool *)data = true;
	return 0;
}

/* Was create() interrupted between key and certificate, so that the authority has never signed? */
static bool is_unfinished(const struct tls_authority *authority)
{
	struct dart_error error;
	bool has_signed = false;

	return !tls_files__exist(authority->directory, CERTIFICATE_FILE) &&
	       !tls_authority__list(authority->directory, note_certificate, &has_signed, &error) &&
	       !has_signed;
}

static int import(struct tls_authority *authority, const gnutls_datum_t *key,
		  const gnutls_datum_t *certificate)
{
	int ret = gnutls_x509_privkey_init(&authority->key);

	if (ret >= 0)
		ret = gnutls_x509_privkey_import(authority->key, key, GNUTLS_X509_FMT_PEM);
	if (ret >= 0)
		ret = gnutls_x509_crt_init(&authority->certificate);
	if (ret >= 0)
		ret = gnutls_x509_crt_import(authority->certificate, certificate,
					     GNUTLS_X509_FMT_PEM);
	return ret;
}

int tls_authority__open(struct tls_authority *authority, const char *directory,
			bool may_create, struct dart_error *error)
{
	gnutls_datum_t key = {}, certificate = {};
	int ret;

	*authority = (struct tls_authority){ .directory = directory, .lock = -1 };
	ret = lock(authority, may_create, error);
	if (ret) {
		tls_authority__close(authority);
		return ret;
	}
	if (!tls_files__exist(directory, KEY_FILE) || (may_create && is_unfinished(authority))) {
		ret = may_create ? create(authority, error) :
				   dart_error__set(
					   error, ENOENT,
					   "there is no authority in '%s' (run this where dartctl tls create was run)",
					   directory);
		if (ret)
			tls_authority__close(authority);
		return ret;
	}
	ret = tls_files__read(directory, KEY_FILE, &key, error) ?:
		      tls_files__read(directory, CERTIFICATE_FILE, &certificate, error);
	if (!ret) {
		ret = import(authority, &key, &certificate);
		if (ret < 0)
			ret = failed(error, "use the authority", ret);
	}
	if (key.data)
		gnutls_memset(key.data, 0, key.size);
	gnutls_free(key.data);
	gnutls_free(certificate.data);
	if (ret)
		tls_authority__close(authority);
	return ret;
}

void tls_authority__close(struct tls_authority *authority)
{
	if (authority->key)
		gnutls_x509_privkey_deinit(authority->key);
	if (authority->certificate)
		gnutls_x509_crt_deinit(authority->certificate);
	if (authority->lock >= 0)
		close(authority->lock);
	authority->key = NULL;
	authority->certificate = NULL;
	authority->lock = -1;
}

/* ---- issuing */

static int serial_name(gnutls_x509_crt_t certificate, char name[static 128])
{
	uint8_t serial[32];
	size_t size = sizeof(serial), i;
	int ret = gnutls_x509_crt_get_serial(certificate, serial, &size);

	if (ret < 0)
		return ret;
	for (i = 0; i < size; i++)
		sprintf(name + 2 * i, "%02x", serial[i]);
	strcpy(name + 2 * size, ".pem");
	return 0;
}

static int fill(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, enum tls_kind kind,
		char *const *names, int count, int64_t expires)
{
	int ret = begin(certificate, key, names[0], expires), i;

	for (i = 0; i < count && ret >= 0; i++)
		ret = add_name(certificate, names[i]);
	if (ret >= 0 && tls_roles[kind].subject)
		ret = add_name(certificate, tls_roles[kind].subject);
	if (ret >= 0)
		ret = gnutls_x509_crt_set_basic_constraints(certificate, 0, -1);
	if (ret >= 0)
		ret = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (ret >= 0)
		ret = gnutls_x509_crt_set_key_purpose_oid(
			certificate,
			kind == TLS_HOST ? GNUTLS_KP_TLS_WWW_SERVER : GNUTLS_KP_TLS_WWW_CLIENT, 0);
	return ret;
}

static int keep_record(const struct tls_authority *authority, gnutls_x509_crt_t certificate,
		       const gnutls_datum_t *text, struct dart_error *error)
{
	char serial[128], name[160];
	const struct tls_file file = { .name = name, .text = text, .is_private = true };
	int ret = serial_name(certificate, serial);

	if (ret < 0)
		return failed(error, "read a serial number", ret);
	snprintf(name, sizeof(name), TLS_ISSUED "/%s", serial);
	return tls_files__write(authority->directory, &file, 1, false, error);
}

int tls_authority__issue(const struct tls_authority *authority, enum tls_kind kind,
			 char *const *names, int count, int days, struct tls_pair *pair,
			 struct dart_error *error)
{
	const int64_t last = gnutls_x509_crt_get_expiration_time(authority->certificate);
	gnutls_x509_crt_t certificate = NULL;
	gnutls_x509_privkey_t key = NULL;
	int ret;

	*pair = (struct tls_pair){ .expires = time(NULL) + (int64_t)days * DAY };
	if (pair->expires > last)
		return dart_error__set(
			error, EINVAL,
			"the authority itself expires before that, in %lld days (--days)",
			(long long)((last - time(NULL)) / DAY));
	ret = make_key(&key);
	if (ret >= 0)
		ret = gnutls_x509_crt_init(&certificate);
	if (ret >= 0)
		ret = fill(certificate, key, kind, names, count, pair->expires);
	if (ret >= 0)
		ret = gnutls_x509_crt_sign2(certificate, authority->certificate,
					    authority->key, GNUTLS_DIG_SHA256, 0);
	if (ret >= 0)
		ret = gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pair->key);
	if (ret >= 0)
		ret = gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pair->certificate);
	ret = ret < 0 ? failed(error, "make a certificate", ret) :
			keep_record(authority, certificate, &pair->certificate, error);
	if (key)
		gnutls_x509_privkey_deinit(key);
	if (certificate)
		gnutls_x509_crt_deinit(certificate);
	if (ret)
		tls_pair__clear(pair);
	return ret;
}

void tls_pair__clear(struct tls_pair *pair)
{
	if (pair->key.data)
		gnutls_memset(pair->key.data, 0, pair->key.size);
	gnutls_free(pair->key.data);
	gnutls_free(pair->certificate.data);
	*pair = (struct tls_pair){};
}

/* ---- records */

static int tell_file(const char *directory, const char *below, const char *file, tls_told *told,
		     void *data, struct dart_error *error)
{
	gnutls_x509_crt_t certificate;
	char name[PATH_MAX];
	gnutls_datum_t text;
	int ret;

	if (snprintf(name, sizeof(name), "%s/%s", below, file) >= PATH_MAX)
		return 0;
	ret = tls_files__read(directory, name, &text, error);
	/* Revoked since its name was read: it is told with the revoked ones. */
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	ret = gnutls_x509_crt_init(&certificate);
	if (ret < 0) {
		gnutls_free(text.data);
		return failed(error, "read a certificate", ret);
	}
	ret = gnutls_x509_crt_import(certificate, &text, GNUTLS_X509_FMT_PEM);
	ret = ret < 0 ? failed(error, "read a certificate", ret) :
			told(data, file, certificate, !strcmp(below, TLS_REVOKED));
	gnutls_x509_crt_deinit(certificate);
	gnutls_free(text.data);
	return ret;
}

static bool is_record(const char *file)
{
	const size_t length = strlen(file);

	return length > 4 && !strcmp(file + length - 4, ".pem");
}

int tls_authority__tell(const char *directory, const char *below, tls_told *told, void *data,
			struct dart_error *error)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int ret = 0;
	DIR *open;

	if (snprintf(path, sizeof(path), "%s/%s", directory, below) >= PATH_MAX)
		return dart_error__set(error, ENAMETOOLONG, "'%s' is too long", directory);
	open = opendir(path);
	if (!open)
		return dart_error__system(error, errno, "cannot read '%s'", path);
	while (!ret && (entry = readdir(open)))
		if (is_record(entry->d_name))
			ret = tell_file(directory, below, entry->d_name, told, data, error);
	closedir(open);
	return ret;
}

int tls_authority__list(const char *directory, tls_told *told, void *data, struct dart_error *error)
{
	return tls_authority__tell(directory, TLS_ISSUED, told, data, error) ?:
		       tls_authority__tell(directory, TLS_REVOKED, told, data, error);
}
