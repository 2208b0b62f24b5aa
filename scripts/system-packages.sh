#!/bin/sh
# The browser tests drive a Chromium found on the machine; the tests of the pyrender backend need
# EGL with Mesa's drivers. What cannot be installed here is said, and its tests are skipped.
set -eu
chromium=no
for name in "${MOTIONJURY_CHROMIUM:-chromium}" chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null 2>&1; then chromium=yes; fi
done
egl=no
if ldconfig -p 2>/dev/null | grep -q 'libEGL\.so\.1'; then egl=yes; fi
if [ "$chromium$egl" = yesyes ]; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  if [ "$chromium" = no ]; then
    echo "Installing chromium for the browser tests ..."
    apt-get install -y -qq chromium fonts-dejavu-core >/dev/null
  fi
  if [ "$egl" = no ]; then
    echo "Installing EGL for the tests of the pyrender backend ..."
    apt-get install -y -qq libegl1 libgl1 libgles2 libegl-mesa0 libgl1-mesa-dri >/dev/null ||
      echo "EGL could not be installed; the tests of the pyrender backend will be skipped" >&2
  fi
  exit 0
fi
if [ "$chromium" = no ]; then
  echo "The browser tests will be skipped: install Chromium (on Debian: apt-get install chromium)" >&2
fi
if [ "$egl" = no ]; then
  echo "The pyrender tests will be skipped: install EGL (on Debian: apt-get install libegl1 libgl1 libgles2 libegl-mesa0 libgl1-mesa-dri)" >&2
fi
