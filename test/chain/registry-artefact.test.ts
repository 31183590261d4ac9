import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { artefactFile, compileRegistry } from '../../src/chain/compile.ts'

it('the committed artefact is what registry.sol compiles to', async () => {
  expect(await readFile(artefactFile, 'utf8')).toBe(await compileRegistry())
})
