# SPDX-License-Identifier: GPL-2.0-only
# make deb: Debian packages, in .output/deb/VERSION, built from a copy of the source, which
# stays as it is.  With ARCH=arm64 those of that architecture only, without the ones for all.

# Of the upgrade that make check-deb tries.
version_before := 0.0.9

# What git knows, or, without git, all that is not built.
sources_listed = { git ls-files --cached --others --exclude-standard 2> /dev/null || \
	find . -name .output -prune -o ! -type d -print; }

# package VERSION: builds the packages of this source as those of a version
define package
$(quiet)room=$(abspath $(output))/deb/$(1) && rm -rf $$room && \
mkdir -p $$room/dart-zero-$(1) && \
$(sources_listed) | grep -v '^selftests/fuzz/corpus/' | while read -r file; do \
	[ ! -e "$$file" ] || printf '%s\0' "$$file"; done | \
	tar -c --null -T - | tar -x -C $$room/dart-zero-$(1) && \
cd $$room/dart-zero-$(1) && sed -i '1s/([^)]*)/($(1))/' debian/changelog && \
$(if $(foreign),mkdir -p $(output) && ln -s $(root) $(output)/root && \
	cp -p $(root).made $(root).shlibs $(output)/ &&) \
KDIR=$(kernel_headers) DEB_BUILD_OPTIONS="$(strip $(DEB_BUILD_OPTIONS) parallel=2)" \
	dpkg-buildpackage $(if $(foreign),--host-arch=$(foreign) --no-check-builddeps \
	--build=any,--build=binary) --no-sign > ../build.log 2>&1 || \
	{ tail -n 40 ../build.log >&2; exit 1; }; \
cd .. && rm -rf dart-zero-$(1) && echo "$(output)/deb/$(1):" && ls *.deb
endef

packages_build: $(if $(KDIR),,$(guest_kernel)/headers)
	+$(call package,$(version))

# Once: the longer ago, the better it stands for another version.
changes_before := $(output)/deb/$(version_before)/dart-zero_$(version_before)_$(shell \
	dpkg --print-architecture 2> /dev/null).changes
packages_before: $(changes_before)
$(changes_before): | $(guest_kernel)/headers
	+$(call package,$(version_before))

.PHONY: packages_build packages_before
