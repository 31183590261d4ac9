import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { configurationPage, pageFile } from '../../deploy/print-configuration.ts'
import { retentionPage, pageFile as retentionPageFile } from '../../deploy/print-retention.ts'

it('keeps docs/configuration.md equal to the variables in the code', () => {
  expect(readFileSync(pageFile, 'utf8'), 'run npm run generate').toBe(configurationPage())
})

it('keeps docs/retention.md equal to the retention rules in the code', () => {
  expect(readFileSync(retentionPageFile, 'utf8'), 'run npm run generate').toBe(retentionPage())
})
