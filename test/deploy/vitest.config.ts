import { defineConfig } from 'vitest/config'

/** Apart from the others: it installs packages and whole systems, and wants minutes, root and the registries. */
export default defineConfig({
  test: {
    include: ['test/deploy/*.deploy.ts'],
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 900_000,
    experimental: { viteModuleRunner: false },
  },
})
