#!/bin/sh
# Last stage of the Dockerfile: installs Debian packages, and creates the user that runs the service.
set -eu

apt-get update
# tini is the first process of the container, and reaps orphaned child processes of embedded servers.
apt-get install --yes --no-install-recommends tini
rm -rf /var/lib/apt/lists/*

groupadd --system --gid 10001 annal
useradd --system --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/annal --shell /usr/sbin/nologin annal
install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/annal
rm -f "$0"
