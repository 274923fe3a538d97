# Completions for shells, made of the programs' --help. bash looks for a file of the program's name.
bashcompletiondir = $(datadir)/bash-completion/completions
bashcompletion_DATA = completions/sklink
zshcompletiondir = $(datadir)/zsh/site-functions
zshcompletion_DATA = completions/_sklink
completed_also = skrun skdump sklink-bisect

completion_helps = completions/sklink.help completions/skrun.help completions/skdump.help completions/sklink-bisect.help
completions/sklink.help completions/skrun.help completions/skdump.help: completions/%.help: %
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)./$< --help >$@.tmp && mv $@.tmp $@
completions/sklink-bisect.help: src/bisect/sklink-bisect
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)sed -n '/^USAGE = """/,/^"""/p' $< >$@.tmp && mv $@.tmp $@

make_completion = LC_ALL=C $(AWK) -f $(top_srcdir)/completions/completions.awk
completions/sklink: completions/sklink.bash
completions/_sklink: completions/sklink.zsh
completions/sklink completions/_sklink: completions/completions.awk $(completion_helps)
	$(AM_V_GEN)$(make_completion) -v shell=$(if $(filter %/_sklink,$@),zsh,bash) $(filter %.bash %.zsh,$^) \
		$(foreach help,$(filter %.help,$^),program=$(basename $(notdir $(help))) $(help)) >$@.tmp && \
		mv $@.tmp $@

install-data-hook:
	for program in $(completed_also); do ln -sf sklink "$(DESTDIR)$(bashcompletiondir)/$$program" || exit; done
uninstall-hook:
	for program in $(completed_also); do rm -f "$(DESTDIR)$(bashcompletiondir)/$$program"; done

CLEANFILES += completions/sklink completions/_sklink $(completion_helps)
EXTRA_DIST += completions/completions.awk completions/sklink.bash completions/sklink.zsh
