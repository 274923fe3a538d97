#!/bin/sh
# Makes README.md's picture of the page with a browser: page/picture.sh BUILD doc/page.png
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
picture=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
sh "$source/samples/decode_layers/generate" 61 1 host >decode.yaml
"$build/sklink" decode.yaml "$build/samples/decode_layers/kernels.o" -o decode.sk
"$build/skdump" --html decode.html decode.sk
echo '<script>show("graph");
setTimeout(() => select(tasks.findIndex(task => task.name === "query_up_1")), 50)</script>' >>decode.html
chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,640 \
	--user-data-dir="$work/profile" \
	--virtual-time-budget=5000 --screenshot="$picture" "file://$work/decode.html" >said.txt 2>&1 ||
	{ cat said.txt >&2; exit 1; }
