# Shared by scripts that divide models: `. "$top_srcdir/tests/lib/shard.sh"` after models.sh.
# The module without the rest of the package, which needs a libskrt without a sanitizer's runtime.
mkdir -p modules/sklink && touch modules/sklink/__init__.py && ln -s "$top_srcdir"/python/sklink/shard*.py modules/sklink
modules=$PWD/modules

# shard ARGUMENT…: python -m sklink.shard.
shard() {
	PYTHONPATH=$modules "$python" -m sklink.shard "$@"
}
