#!/bin/sh
# Installs what the browser tests need and npm does not have: Chromium, and a font for Chinese.
command -v chromium > /dev/null && exit 0
if ! command -v apt-get > /dev/null; then
  echo 'Install Chromium so that `chromium` is on the PATH; this script knows only apt-get.' >&2
  exit 1
fi
apt-get update && apt-get install -y --no-install-recommends chromium fonts-noto-cjk
