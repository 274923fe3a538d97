# The Python package: plain files in a folder on Python's path, and the same as a wheel. Only make knows the places of
# libskrt and sklink.
python_sources = \
	python/sklink/__init__.py \
	python/sklink/device.py \
	python/sklink/libskrt.py \
	python/sklink/linking.py \
	python/sklink/package.py \
	python/sklink/py.typed \
	python/sklink/shard.py \
	python/sklink/shard_attention.py \
	python/sklink/shard_facts.py \
	python/sklink/shard_rules.py \
	python/sklink/sharding.py \
	python/sklink/tensor.py
EXTRA_DIST += $(python_sources) python/wheel.py

if HAVE_PYTHON
sklinkpythondir = $(pythondir)/sklink
sklinkpython_DATA = $(python_sources) python/sklink/configured.py

python/sklink/configured.py: Makefile
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN){ \
		echo '"""Settings of configure."""'; \
		echo 'VERSION = "$(VERSION)"'; \
		echo 'LIBRARY = "$(libdir)/libskrt.so.0"'; \
		echo 'PROGRAM = "$(bindir)/sklink"'; \
	} >$@.tmp && mv $@.tmp $@

python_wheel = python/sklink-$(VERSION)-py3-none-any.whl
noinst_DATA += $(python_wheel)
$(python_wheel): $(python_sources) python/sklink/configured.py python/wheel.py
	$(AM_V_GEN)$(PYTHON) $(top_srcdir)/python/wheel.py $@ $(VERSION) \
		$(filter %.py %.typed,$(filter-out %/wheel.py,$^))
CLEANFILES += python/sklink/configured.py $(python_wheel)
endif
