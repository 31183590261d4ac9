#!/bin/sh
# The last stage: what the service needs of Debian, and whom it runs as.
set -eu

apt-get update
# The first process of a container, for the children that embedded parts leave behind.
apt-get install --yes --no-install-recommends tini
rm -rf /var/lib/apt/lists/*

groupadd --system --gid 10001 annal
useradd --system --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/annal --shell /usr/sbin/nologin annal
install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/annal
rm -f "$0"
