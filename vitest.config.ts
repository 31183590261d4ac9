import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { findMemoryFolder } from './test/support/memory-folder.ts'

// Of this process, which starts the servers, and of those it starts for the tests. Who sets it has chosen.
const memory = findMemoryFolder()
if (memory) process.env.TMPDIR ??= memory

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    setupFiles: ['test/support/resource-ledger.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Loading the service takes longer than most files test. Nothing is shared but code: each file has a database of its own.
    isolate: false,
    // Much of the time is waiting: for disks, blocks and locks.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Collecting garbage took a fifth of the time: young objects get much room at once, and old ones are gone through rarely.
    execArgv: ['--min-semi-space-size=64', '--max-semi-space-size=64', '--heap-growing-percent=200'],
    // Only what hangs comes to these: a machine may be slow, and its tests are right all the same.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Node runs the sources in tests as it does in production: it strips the types, and nothing else touches them.
    // Nothing is mocked, so that no import has to be looked into.
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
})
