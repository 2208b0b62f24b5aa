#!/bin/sh
# The browser tests drive a Chromium found on the machine; nothing else is needed from the system.
set -eu
for name in "${MOTIONJURY_CHROMIUM:-chromium}" chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing chromium for the browser tests ..."
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-dejavu-core >/dev/null
else
  echo "The browser tests will be skipped: install Chromium (on Debian: apt-get install chromium)" >&2
fi
