# SPDX-License-Identifier: GPL-2.0-only
#
# make install: which file goes where.  debian/*.install part the result among packages.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
install := install -D -m
manuals := $(filter-out LICENSES/%,\
	$(wildcard $(foreach n,1 2 3 4 5 6 7 8,*/*.$(n) tools/*/*.$(n)))) \
	$(filter-out %-completion,$(texts))
completions := $(wildcard tools/*/*.bash-completion tools/*/*.zsh-completion \
	tools/*/*.fish-completion) $(filter %-completion,$(texts))
# The headers that the manual pages name in #include lines.
headers := $(patsubst uapi/%,%,$(wildcard uapi/*/*.h uapi/*/*.def)) \
	$(patsubst tools/lib/include/%,%,$(foreach header,\
	$(wildcard tools/lib/include/*/*.h tools/lib/include/*/*/*.h tools/lib/include/*/*.hpp),\
	$(if $(findstring _internal.h,$(header)),,$(header))))

# to DIRECTORY, FILE, MODE: installs it there under its own name
to = $(quiet)$(install) $(3) $(2) $(DESTDIR)$(1)/$(notdir $(2))

install: programs_install modules_install

programs_install: programs shared
	$(call to,$(PREFIX)/sbin,$(output)/bin/dartd,755)
	$(call to,$(PREFIX)/bin,$(output)/bin/dartctl,755)
	$(call to,$(PREFIX)/libexec/dart,$(output)/bin/dartctl-tls,755)
	$(call to,$(PREFIX)/bin,$(output)/bin/dart-controller,755)
	$(call to,$(PREFIX)/bin,$(output)/bin/dart-report,755)
	$(call to,$(PREFIX)/sbin,$(output)/bin/dart-flows,755)
	$(if $(zookeeper_mt_libs),$(call to,$(PREFIX)/sbin,$(output)/bin/dart-members-zookeeper,755))
	$(call to,$(LIBDIR),$(output)/lib/libdart.a,644)
	$(call to,$(LIBDIR),$(call shared,dart),644)
	$(quiet)ln -sf libdart.so.$(dart_abi) $(DESTDIR)$(LIBDIR)/libdart.so
	$(quiet)mkdir -p $(DESTDIR)$(LIBDIR)/pkgconfig
	$(quiet)sed -e 's,@PREFIX@,$(PREFIX),g' -e 's,@LIBDIR@,$(LIBDIR),g' \
		-e 's,@VERSION@,$(version),g' -e 's,@PACKAGES@,$(filter-out m,$(dart_packages)),g' \
		tools/lib/dart/libdart.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/libdart.pc
	$(call to,$(LIBDIR),$(output)/lib/libdartzero.a,644)
	$(call to,$(LIBDIR),$(preload),644)
	$(quiet)sed -e 's,@PREFIX@,$(PREFIX),g' -e 's,@LIBDIR@,$(LIBDIR),g' \
		-e 's,@VERSION@,$(version),g' tools/lib/zero/libdartzero.pc.in \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/libdartzero.pc
	$(call to,$(PREFIX)/include/dart/kernel,kmod/extents/dart_counters.h,644)
	$(call to,$(PREFIX)/include/dart/bpf,bpf/dart_counters.h,644)
	$(quiet)for file in tools/controller/dart-controller.yaml \
		$(wildcard contrib/systemd/* contrib/libdartzero/*); do \
		$(install) 644 $$file \
			$(DESTDIR)$(PREFIX)/share/doc/dart-zero/examples/$${file##*/} || exit; \
	done
	$(quiet)for file in agent/dartd.yaml tools/flows/flows.yaml \
			tools/members/members-zookeeper.yaml \
			$(wildcard tools/controller/etc/*); do \
		to=$(DESTDIR)/etc/dart/$${file##*/}; \
		[ -e $$to ] || $(install) 644 $$file $$to || exit; \
	done
	$(quiet)for header in $(headers); do \
		source=uapi/$$header; \
		[ -e $$source ] || source=tools/lib/include/$$header; \
		$(install) 644 $$source $(DESTDIR)$(PREFIX)/include/$$header || exit; \
	done
	$(quiet)for manual in $(manuals); do \
		$(install) 644 $$manual \
			$(DESTDIR)$(PREFIX)/share/man/man$${manual##*.}/$${manual##*/} || exit; \
	done
	$(quiet)for file in $(completions); do \
		program=$${file##*/}; program=$${program%.*}; \
		case $$file in \
		*.bash-completion) to=bash-completion/completions/$$program ;; \
		*.zsh-completion) to=zsh/site-functions/_$$program ;; \
		*.fish-completion) to=fish/vendor_completions.d/$$program.fish ;; \
		esac; \
		$(install) 644 $$file $(DESTDIR)$(PREFIX)/share/$$to || exit; \
	done
	$(quiet)for schema in $(wildcard schemas/*.yaml schemas/prometheus/*.yaml \
			schemas/applications/*.yaml schemas/applications/layouts/*.yaml); do \
		$(install) 644 $$schema \
			$(DESTDIR)$(PREFIX)/share/dart/$$schema || exit; \
	done
	$(quiet)for unit in $(wildcard */*.service tools/*/*.service); do \
		mkdir -p $(DESTDIR)$(PREFIX)/lib/systemd/system; \
		sed 's,@PREFIX@,$(PREFIX),g' $$unit \
			> $(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/} || exit; \
	done
	$(quiet)for file in $(wildcard */*.sysusers tools/*/*.sysusers); do \
		$(install) 644 $$file \
			$(DESTDIR)$(PREFIX)/lib/sysusers.d/$$(basename $$file .sysusers).conf || exit; \
	done
