import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { artefactFile, compile } from '../../src/chain/compile.ts'

it.each(['registry', 'balances'] as const)('the committed artefact is what %s.sol compiles to', async (name) => {
  expect(await readFile(artefactFile(name), 'utf8')).toBe(await compile(name))
})
