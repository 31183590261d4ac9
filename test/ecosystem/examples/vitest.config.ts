import { defineConfig } from 'vitest/config'

/** The examples are tried on a server as `npm start` has it: nothing of the other tests' is started. */
export default defineConfig({
  test: {
    include: ['test/ecosystem/examples/*.examples.ts'],
    testTimeout: 120_000,
    hookTimeout: 240_000,
    experimental: { viteModuleRunner: false },
  },
})
