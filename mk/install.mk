# SPDX-License-Identifier: ISC
#
# Installing, and the archive for a release.

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
# Where dtprof finds it: ../lib/dtprof from BINDIR.
PRELOADDIR ?= $(PREFIX)/lib/dtprof
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/dtprof
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
UNITDIR ?= $(PREFIX)/lib/systemd/system
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d

MAN_PAGES := $(wildcard cmd/dtprof/*.[1-8] doc/*.[1-8])

# All that is installed, each as mode:file:directory.
INSTALLED := 755:$(O)/dtprof:$(BINDIR) \
    644:$(O)/dtprof-alloc.so:$(PRELOADDIR) \
    644:$(O)/libprof.a:$(LIBDIR) 644:$(O)/libprof.so.0:$(LIBDIR) \
    $(foreach file,libprof/prof.h libprof/prof_recording.h \
    libprof/prof_profile.h libprof/prof_compare.h libprof/prof_region.h \
    $(wildcard libprof/*.def),\
    644:$(file):$(INCLUDEDIR)/libprof) \
    644:$(O)/install/libprof.pc:$(LIBDIR)/pkgconfig \
    644:$(O)/install/dtprof:$(BASHDIR) \
    644:$(O)/install/_dtprof:$(ZSHDIR) \
    644:$(O)/install/dtprof.fish:$(FISHDIR) \
    644:$(O)/install/dtprof-boot.service:$(UNITDIR) \
    $(foreach file,README.md NEWS LICENSE,644:$(file):$(DOCDIR)) \
    $(foreach file,$(wildcard doc/examples/*.c),\
    644:$(file):$(DOCDIR)/examples) \
    $(foreach page,$(MAN_PAGES),\
    644:$(page):$(MANDIR)/man$(patsubst .%,%,$(suffix $(page))))

part = $(word $(1),$(subst :, ,$(2)))
there = $(DESTDIR)$(call part,3,$(1))

.PHONY: install uninstall dist deb installed-texts

# What says where things are; made anew each time, because that may change.
# Completion asks the command itself, so that it is never older than it.
installed-texts:
	@mkdir -p $(O)/install
	@sed -e 's,@PREFIX@,$(PREFIX),' -e 's,@LIBDIR@,$(LIBDIR),' \
	    -e 's,@INCLUDEDIR@,$(INCLUDEDIR),' -e 's,@VERSION@,$(VERSION),' \
	    -e 's,@LIBS@,$(OUR_LIBS),' mk/libprof.pc.in \
	    >$(O)/install/libprof.pc
	@sed 's,@BINDIR@,$(BINDIR),' mk/dtprof-boot.service.in \
	    >$(O)/install/dtprof-boot.service
	@echo 'source <(dtprof completion bash)' >$(O)/install/dtprof
	@printf '%s\n' '#compdef dtprof' 'eval "$$(dtprof completion zsh)"' \
	    '_dtprof "$$@"' >$(O)/install/_dtprof
	@echo 'dtprof completion fish | source' >$(O)/install/dtprof.fish

#> install: below DESTDIR and PREFIX
install: all installed-texts
	@$(foreach i,$(INSTALLED),\
	    $(INSTALL) -d $(call there,$(i)) && \
	    $(INSTALL) -m $(call part,1,$(i)) $(call part,2,$(i)) \
	    $(call there,$(i))/ &&) \
	    ln -sf libprof.so.0 $(DESTDIR)$(LIBDIR)/libprof.so
	@# Programs that are linked against the library look into a cache.
	@[ -n '$(DESTDIR)' ] || ldconfig 2>/dev/null || :
	@echo 'installed below $(DESTDIR)$(PREFIX)'

#> uninstall: remove what install put there
uninstall:
	@rm -f $(DESTDIR)$(LIBDIR)/libprof.so $(foreach i,$(INSTALLED),\
	    $(call there,$(i))/$(notdir $(call part,2,$(i))))
	@-rmdir $(DESTDIR)$(INCLUDEDIR)/libprof $(DESTDIR)$(DOCDIR)/examples \
	    $(DESTDIR)$(PRELOADDIR) \
	    $(DESTDIR)$(DOCDIR) 2>/dev/null

#> dist: the archive of the last commit, build/dtprof-VERSION.tar.gz
dist:
	@mkdir -p $(O)
	git archive --format=tar --prefix=dtprof-$(VERSION)/ \
	    -o $(O)/dtprof-$(VERSION).tar HEAD
	gzip -9nf $(O)/dtprof-$(VERSION).tar

#> deb: Debian packages of the last commit, in build/deb
deb: dist
	@sh mk/deb.sh $(O) $(VERSION)
