/** The record of `npm run mutate` knows what need not be tried again. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { Mutant } from '../mutants/mutant.ts'
import { MutantRecord, type Result } from '../mutants/record.ts'

const root = mkdtempSync(join(tmpdir(), 'annal-record-'))
afterAll(() => rmSync(root, { recursive: true }))
mkdirSync(join(root, 'test'))
const file = join(root, 'record.jsonl')
const write = (path: string, text: string) => writeFileSync(join(root, path), text)
const mutant: Mutant = { id: 'a.b', breaks: '', file: 'rule.ts', find: '1', replace: '2', tests: ['rule.test.ts'] }
const result: Result = { outcome: 'noticed', by: 'rule.test.ts: expected 1', seconds: 3 }

it.each<[string, { replace?: string; path?: string }]>([
  ['the mutant', { replace: '3' }],
  ['the file it changes', { path: 'rule.ts' }],
  ['a test it names', { path: 'test/rule.test.ts' }],
])('what came of a mutant holds in later runs until %s changes', (_, { replace = mutant.replace, path }) => {
  write('rule.ts', 'one = 1')
  write('test/rule.test.ts', 'expect(one).toBe(1)')
  new MutantRecord(root, file).add(mutant, result)
  expect(new MutantRecord(root, file).find(mutant)).toMatchObject(result)
  if (path) write(path, 'changed')
  expect(new MutantRecord(root, file).find({ ...mutant, replace })).toBeUndefined()
})

it('goes by the files as they were at the first look, which are those that are tried', () => {
  write('rule.ts', 'one = 1')
  const record = new MutantRecord(root, file)
  record.find(mutant)
  write('rule.ts', 'uno = 1')
  record.add(mutant, result)
  expect(record.find(mutant)).toMatchObject(result)
  expect(new MutantRecord(root, file).find(mutant)).toBeUndefined()
})
