import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/ecosystem/examples/*.examples.ts'],
    testTimeout: 120_000,
    hookTimeout: 240_000,
    experimental: { viteModuleRunner: false },
  },
})
