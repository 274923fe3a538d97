# The kernel library, libskernels.a: an object for each kernel, compiled by a makefile that variants.awk makes from the
# opening comments of the sources. It is never sanitized. Other build directories of the same source need not build it
# again: configure SKERNELS=FILE takes an existing one.
#
# Results are those of IEEE arithmetic in the order of the source, at every level of the instruction set: nothing is
# contracted, reassociated or assumed to be finite. Loops with comparisons vectorize because errno and the flags of
# exceptions are not used. Integers wrap around. The compiler makes no calls of memcpy or memset.
KERNEL_FAMILIES = \
	kernels/activations.c \
	kernels/along-rows.c \
	kernels/arg.c \
	kernels/attention.c \
	kernels/batchnorm.c \
	kernels/binary.c \
	kernels/cast.c \
	kernels/clip.c \
	kernels/comparisons.c \
	kernels/composites.c \
	kernels/conv-integer.c \
	kernels/conv-transpose.c \
	kernels/conv.c \
	kernels/copy.c \
	kernels/cumsum.c \
	kernels/dequant-swiglu-quant.c \
	kernels/dequantise-sums.c \
	kernels/dequantise.c \
	kernels/det.c \
	kernels/entropies.c \
	kernels/exchange.c \
	kernels/extremes.c \
	kernels/fold.c \
	kernels/gather.c \
	kernels/gridsample.c \
	kernels/interpolate.c \
	kernels/linear-attention.c \
	kernels/lookup.c \
	kernels/lrn.c \
	kernels/matmul-exact.c \
	kernels/matmul-integer.c \
	kernels/matmul-nbits.c \
	kernels/matmul-pack.c \
	kernels/matmul-quads.c \
	kernels/matmul-transposed.c \
	kernels/matmul-vector.c \
	kernels/matmul.c \
	kernels/nll.c \
	kernels/normalize-fused.c \
	kernels/normalize.c \
	kernels/optimisers.c \
	kernels/pad.c \
	kernels/patterns.c \
	kernels/places.c \
	kernels/pool.c \
	kernels/predicates.c \
	kernels/quantise-range.c \
	kernels/quantise.c \
	kernels/random.c \
	kernels/recurrent.c \
	kernels/reduce.c \
	kernels/requantise.c \
	kernels/resize-rows.c \
	kernels/rotary.c \
	kernels/roialign.c \
	kernels/row-gradients.c \
	kernels/rows.c \
	kernels/scatter.c \
	kernels/sum.c \
	kernels/swiglu.c \
	kernels/topk.c \
	kernels/training.c \
	kernels/trees.c \
	kernels/unary.c \
	kernels/unpool.c \
	kernels/where.c
KERNEL_INCLUDES = \
	kernels/activate.h \
	kernels/along.h \
	kernels/attention-block.h \
	kernels/attention-columns.h \
	kernels/attention-row.h \
	kernels/binary-forms.h \
	kernels/conv-input.h \
	kernels/depthwise.h \
	kernels/epilogue.h \
	kernels/family.h \
	kernels/math-f32.h \
	kernels/math-f64.h \
	kernels/math.h \
	kernels/matmul-forms.h \
	kernels/normal-rows.h \
	kernels/product.h \
	kernels/quantise-forms.h \
	kernels/quantise.h \
	kernels/spatial.h \
	kernels/x86_64-quads.h \
	kernels/x86_64-vectors.h
LIBRARY_CFLAGS = -std=gnu11 -O3 -fPIC -fno-math-errno -fno-trapping-math -ffp-contract=off -fwrapv \
	$(LIBRARY_LOOP_CFLAGS) -fno-ident -fno-stack-protector -Wall -Wextra -Wshadow -Wno-type-limits \
	-Wno-tautological-compare \
	-Wno-sign-compare -Wno-unused-function
EXTRA_DIST += $(KERNEL_FAMILIES) $(KERNEL_INCLUDES) kernels/variants.awk

# The same as automake's variables of that name.
LIBRARY_V = $(LIBRARY_V_@AM_V@)
LIBRARY_V_ = $(LIBRARY_V_@AM_DEFAULT_V@)
LIBRARY_V_0 = @
LIBRARY_V_1 =

if BUILD_SKERNELS
kernels/variants.mk: $(KERNEL_FAMILIES) $(KERNEL_INCLUDES) kernels/variants.awk kernels/local.mk
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(AWK) -v make=1 -f $(top_srcdir)/kernels/variants.awk $(KERNEL_FAMILIES:%=$(top_srcdir)/%) >$@-new
	$(AM_V_at)mv $@-new $@

# Made again only if something has changed; its own makefile knows the dependencies.
kernels/libskernels.a: kernels/variants.mk remade-kernels
	@$(MAKE) $(AM_MAKEFLAGS) --no-print-directory -f kernels/variants.mk O=kernels S='$(top_srcdir)/kernels' \
	V='$(LIBRARY_V)' \
		AR='$(AR)' COMPILE='$(KERNEL_CC) $(LIBRARY_CFLAGS) -I$(top_srcdir) -c'
remade-kernels:
else
kernels/libskernels.a: $(SKERNELS)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)cp $(SKERNELS) $@
endif

kernels: kernels/libskernels.a
.PHONY: kernels remade-kernels
skernelsdir = $(libdir)
nodist_skernels_DATA = kernels/libskernels.a
CLEANFILES += kernels/*.o kernels/variants.mk kernels/libskernels.a
