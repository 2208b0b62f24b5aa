#!/bin/sh
# Builds the player's 3D view from annotation_app/player/player3d/. Where that is not possible the
# app works with the video alone and says so: then this ends with 0 too, and is tried again next time.
set -u
cd "$(dirname "$0")/.."
BIN="$PWD/.venv/bin"
DIST="$PWD/annotation_app/player/dist"
LOG="$PWD/.make/player.log"
STAMP="$PWD/.make/player"
mkdir -p .make "$DIST"

off() {
  rm -f "$DIST/player3d.js" "$DIST/player3d.js.part" "$STAMP"
  echo "$1" > "$DIST/why.txt"
  echo "The 3D view is off: $1; labelling goes on with the video alone. See .make/player.log" >&2
  exit 0
}

"$BIN/python" -m pip install --quiet --disable-pip-version-check \
  --only-binary :all: -r requirements-player.txt \
  > "$LOG" 2>&1 || off "Node.js could not be installed"
PATH="$BIN:$PATH"
export PATH
cd annotation_app/player
# No script of a package runs, and a dead network is noticed soon.
npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=30000 \
  >> "$LOG" 2>&1 || off "its libraries could not be fetched"
node_modules/.bin/esbuild player3d/index.ts --bundle --format=esm --target=es2022 --minify \
  --legal-comments=eof --log-level=warning --outfile="$DIST/player3d.js.part" \
  >> "$LOG" 2>&1 || off "it could not be built"
mv "$DIST/player3d.js.part" "$DIST/player3d.js"
rm -f "$DIST/why.txt"
touch "$STAMP"
