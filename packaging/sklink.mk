# Packages of sklink in makefiles, for GNU make from 4.3 on:
#
#   SKLINK_PACKAGES = NAME ...
#   NAME_MANIFEST = network.yaml                # or NAME_MODEL = model.onnx
#   NAME_OBJECTS = kernels.o                    # objects
#   NAME_LIBRARIES = libmine.a skernels         # archives; or names of libraries
#   NAME_OPTIONS = --isa native                 # further options of sklink
#   NAME_DEPENDS = constants.npy                # files named in the manifest that have to be made first
#   NAME_EMBED = yes
#   NAME_HEADER = yes
#   include $(shell pkg-config --variable=makefile sklink)
#
# All but the manifest or model may be left out. Each name gets a rule for the file NAME.sk, and NAME.h with
# NAME_HEADER; sklink-packages are all of them. With NAME_EMBED the package is an object for programs, NAME.sk.o. In C
# the package has this name up to its first dot: sk_plan_NAME. sklink lists the files that it has read, so the package
# is made again when one of them has changed, also a constant or a member of a thin archive.
ifndef SKLINK
SKLINK := $(shell pkg-config --variable=program sklink)
endif

# The inputs of NAME, its file and its header.
sklink_inputs = $($(1)_MANIFEST) $($(1)_MODEL) $($(1)_OBJECTS) $(filter %.a,$($(1)_LIBRARIES))
sklink_file = $(1).sk$(if $($(1)_EMBED),.o)
sklink_header = $(if $($(1)_HEADER),$(1).h)

define sklink_rule
$(if $(filter 1,$(words $($(1)_MANIFEST) $($(1)_MODEL))),,$(error sklink.mk: say either $(1)_MANIFEST or $(1)_MODEL))
$(call sklink_file,$(1)) $(call sklink_header,$(1)) &: $(call sklink_inputs,$(1)) $($(1)_DEPENDS) $(wildcard $(SKLINK))
	$$(SKLINK) $(call sklink_inputs,$(1)) $(patsubst %,-l%,$(filter-out %.a,$($(1)_LIBRARIES))) -soname $(1).sk \
		$(if $($(1)_EMBED),-r) $(if $($(1)_HEADER),--header=$(1).h) $($(1)_OPTIONS) \
		-o $(call sklink_file,$(1)) --dependency-file=$(1).sk.d
	$(if $($(1)_HEADER),sed -i '1s/:/ $(1).h:/' $(1).sk.d)
sklink-packages: $(call sklink_file,$(1))
-include $(1).sk.d
endef
.PHONY: sklink-packages
$(foreach name,$(SKLINK_PACKAGES),$(eval $(call sklink_rule,$(name))))
