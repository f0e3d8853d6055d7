// SPDX-License-Identifier: GPL-2.0-only
/* Check of the module: whether it is loaded, whether its device exists, and its ABI. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/dart_zero.h>

#include "checks.h"
#include "tools/doctor/text_file.h"

#define CHECK "module"
#define RELOAD \
	"systemctl stop dartd; modprobe -r dart_zero && modprobe dart_zero && systemctl start dartd"

/* Would modprobe find the module? */
static bool is_installed(void)
{
	return !system("PATH=$PATH:/usr/sbin:/sbin modinfo -n dart_zero "
		       ">/dev/null 2>&1");
}

/* Does the kernel load signed modules only, as with Secure Boot? */
static bool needs_signature(void)
{
	char line[128];

	if (text_file__line(line, sizeof(line), "/sys/module/module/parameters/sig_enforce") &&
	    line[0] == 'Y')
		return true;
	return text_file__line(line, sizeof(line), "/sys/kernel/security/lockdown") &&
	       !strstr(line, "[none]");
}

/* Reads the signer of the module that modprobe would load; "": the module is not signed. */
static void read_signer(char *signer, size_t size)
{
	FILE *modinfo = popen("PATH=$PATH:/usr/sbin:/sbin modinfo -F signer dart_zero "
			      "2>/dev/null",
			      "re");

	signer[0] = '\0';
	if (!modinfo)
		return;
	if (fgets(signer, size, modinfo))
		signer[strcspn(signer, "\n")] = '\0';
	pclose(modinfo);
}

static void advise_signing(struct findings *findings)
{
	char signer[128];

	read_signer(signer, sizeof(signer));
	if (signer[0])
		findings__warn(
			findings, CHECK,
			"dart_zero is not loaded, so dartd gathers by eBPF programs: the kernel loads modules only with a signature it knows (Secure Boot); if modprobe says 'Key was rejected by service', it does not have the key of '%s'",
			signer);
	else
		findings__warn(
			findings, CHECK,
			"dart_zero is not loaded, so dartd gathers by eBPF programs: the kernel loads signed modules only (Secure Boot) and this one is not signed, so modprobe says 'Key was rejected by service' or 'Operation not permitted'");
	findings__advise(
		findings,
		"sign the module and enrol the key: see Documentation/secure_boot.md (/usr/share/doc/dart-zero-doc)");
	findings__command(findings, "%s",
			  signer[0] ? "mokutil --list-enrolled" :
				      "mokutil --import /var/lib/dkms/mok.pub");
}

static void advise_loading(struct findings *findings)
{
	if (is_installed() && needs_signature()) {
		advise_signing(findings);
		return;
	}
	findings__warn(
		findings, CHECK,
		"dart_zero is not loaded: dartd gathers by eBPF programs, and shows no counters where they lie");
	if (!kernel__is_since(MODULE_SINCE)) {
		findings__advise(findings, "the module needs Linux 6.2 or newer");
		return;
	}
	if (!is_installed())
		findings__advise(
			findings,
			"it is not installed for this kernel: in the source, make install");
	findings__command(findings, "modprobe dart_zero");
}

static void check_abi(struct findings *findings, int fd)
{
	struct dart_zero_info info = { .size = sizeof(info) };

	if (ioctl(fd, DART_ZERO_IOC_INFO, &info)) {
		findings__fail(findings, CHECK,
			       "dart_zero does not know this release of dartctl: %s",
			       strerror(errno));
	} else if (info.abi_version != DART_ZERO_ABI_VERSION) {
		findings__fail(findings, CHECK,
			       "dart_zero has ABI %u, which is %s than ABI %u of this release",
			       info.abi_version,
			       info.abi_version < DART_ZERO_ABI_VERSION ? "older" : "newer",
			       DART_ZERO_ABI_VERSION);
	} else {
		findings__ok(findings, CHECK, "dart_zero is loaded, ABI %u%s", info.abi_version,
			     info.flags & DART_ZERO_INFO_NO_WINDOWS ?
				     ", with windows=0: sources are registered with --gather only" :
				     "");
		return;
	}
	findings__advise(findings,
			 "install the module and the programs of one release, then load it again");
	findings__command(findings, RELOAD);
}

void check_module(struct findings *findings)
{
	unsigned int major, minor;
	char number[32];
	int fd;

	if (!text_file__line(number, sizeof(number), "/sys/class/misc/dart_zero/dev") ||
	    sscanf(number, "%u:%u", &major, &minor) != 2) {
		advise_loading(findings);
		return;
	}
	if (!text_file__exists(DART_ZERO_DEVICE)) {
		findings__fail(findings, CHECK,
			       "dart_zero is loaded, but " DART_ZERO_DEVICE " does not exist");
		findings__command(findings, "mknod -m 600 " DART_ZERO_DEVICE " c %u %u", major,
				  minor);
		return;
	}
	fd = open(DART_ZERO_DEVICE, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		check_abi(findings, fd);
		close(fd);
	} else if (geteuid()) {
		findings__ok(findings, CHECK, "dart_zero is loaded (only root sees its ABI)");
	} else {
		findings__fail(findings, CHECK, "cannot open " DART_ZERO_DEVICE ": %s",
			       strerror(errno));
		findings__command(findings, RELOAD);
	}
}
