# SPDX-License-Identifier: GPL-2.0-only
# The module, built by Kbuild in a mirror of the sources,
# .output/kmod/<release>/kmod/dart_zero.ko.

kmod_folders := kmod $(patsubst %/,%,$(wildcard kmod/*/))

$(guest_kernel)/headers $(guest_kernel)/headers/vmlinux:
	$(quiet)selftests/qemu/kernel $(KVER) > /dev/null

# kbuild HEADERS, ARGUMENTS: Kbuild for the kernel with these headers. The
# mirror is locked against other builds.
define kbuild
$(quiet)release=$$(cat $(1)/include/config/kernel.release) && \
mirror=$(abspath $(output))/kmod/$$release && \
printf '%s\n' 6.2 "$$release" | sort -V -C || { \
	echo "dart_zero needs Linux 6.2 or newer, this is $$release: older" \
		"kernels cannot register a read-only mapping with the RDMA core" >&2; \
	exit 1; } && \
mkdir -p $(kmod_folders:%=$$mirror/%) $$mirror/sample && exec 9< $$mirror && flock 9 && \
find $$mirror -xtype l -delete && \
ln -sf $(abspath Kbuild) $$mirror/ && \
ln -sfn $(abspath uapi) $$mirror/uapi && \
$(foreach folder,$(kmod_folders),\
	ln -sf $(abspath $(wildcard $(folder)/*.[ch] $(folder)/Kbuild)) $$mirror/$(folder)/ &&) \
ln -sf $(abspath $(wildcard selftests/sample/*)) $$mirror/sample/ && \
selftests/qemu/toolchain $(dir $(1)) $(MAKE) --no-print-directory -C $(1) \
	M=$$mirror CONFIG_MODULE_SIG_ALL= $(if $(foreign),CROSS_COMPILE=$(triplet)-) $(2)
endef

module: $(if $(KDIR),,$(guest_kernel)/headers)
	+$(call kbuild,$(kernel_headers),modules)

modules_install: module
	$(quiet)[ "$(KDIR)$(DESTDIR)" ] || { \
		echo "make: no headers of a running Linux >= 6.2 to install a module" \
			"for (install linux-headers-$$(uname -r) or set KDIR=)" >&2; \
		exit 1; }
	+$(call kbuild,$(kernel_headers),modules_install) \
		INSTALL_MOD_PATH=$(DESTDIR) && \
	{ [ "$(DESTDIR)" ] || $(DEPMOD) $$release; }

# The sources of the module alone, for dkms: make -C HEADERS M=DIRECTORY builds them.
module_sources := $(wildcard kmod/*.[ch] kmod/*/*.[ch]) kmod/Kbuild \
	$(wildcard uapi/linux/*)
# Without the sample of the tests, which make clean would look for.
dkms_install:
	$(quiet)for file in Kbuild $(module_sources); do \
		$(install) 644 $$file $(DESTDIR)/usr/src/dart-zero-$(version)/$$file || exit; \
	done
	$(quiet)sed -i '/^# Only for the guests/d; /DART_SAMPLE/d' \
		$(DESTDIR)/usr/src/dart-zero-$(version)/Kbuild

# Guests see the fetched kernel's modules, among them this one, the sample of a module
# with counters, and that of a driver that hangs.
module_of_guest: $(guest_kernel)/headers
	+$(call kbuild,$(abspath $(guest_kernel))/headers,modules CONFIG_DART_SAMPLE=m) && \
	updates=$(guest_kernel)/lib/modules/$$release/updates && \
	mkdir -p $$updates && \
	for built in $$mirror/kmod/dart_zero.ko $$mirror/sample/dart_sample.ko \
		$$mirror/sample/dart_hang.ko; do \
		installed=$$updates/$${built##*/}; \
		cmp -s $$built $$installed || { \
			cp $$built $$installed.new && \
			mv $$installed.new $$installed && \
			$(DEPMOD) -b $(guest_kernel) $$release; } || exit; \
	done
