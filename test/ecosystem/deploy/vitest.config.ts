import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/ecosystem/deploy/*.deploy.ts'],
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 900_000,
    experimental: { viteModuleRunner: false },
  },
})
