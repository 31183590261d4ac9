/** What is generated and committed, and of which nobody would notice by itself that it is old. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { configurationPage, pageFile } from '../../deploy/print-configuration.ts'
import { retentionPage, pageFile as retentionPageFile } from '../../deploy/print-retention.ts'
import { isGenerated } from '../../prisma/generate.ts'

it('the committed database client is what schema.prisma generates, and nobody edited it', () => {
  expect(isGenerated(), 'run npm run generate:prisma, and commit src/platform/prisma and prisma/generated.json').toBe(
    true,
  )
})

it('the page of the configuration says of every variable what the code says', () => {
  expect(readFileSync(pageFile, 'utf8'), 'run npm run generate').toBe(configurationPage())
})

it('the page of what is kept says of every table what the code says', () => {
  expect(readFileSync(retentionPageFile, 'utf8'), 'run npm run generate').toBe(retentionPage())
})
