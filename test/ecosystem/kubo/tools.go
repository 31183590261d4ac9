//go:build tools

// Package tools names the program that `npm run test:ecosystem -- kubo` builds, so that go.mod pins it with all that it is made of.
package tools

import _ "github.com/ipfs/kubo/cmd/ipfs"
