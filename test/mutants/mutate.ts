/**
 * `npm run mutate [-- --record <file>] [<id or its beginning>…]`: breaks one rule at a time in a copy of the sources, and runs the
 * tests that concern it, which ran once without any change before. Prints a line for each mutant and at the end one JSON line. Exits
 * with 1 when fewer than 95 % are noticed, or one that has no other keeper is not, or was not tried because its tests fail anyway. With `--record`, what became of each is kept in a file, and a mutant that stands in it is
 * not tried again while it, the file it changes and its tests are the same.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findMemoryFolder } from '../support/memory-folder.ts'
import { Copy } from './copy.ts'
import type { Mutant } from './mutant.ts'
import { mutants } from './mutants.ts'
import { MutantRecord, type Result } from './record.ts'

const ROOT = join(import.meta.dirname, '../..')
const COPIES = Number(process.env.COPIES ?? Math.min(2, availableParallelism()))
/** A mutant may make a test wait for ever: then it is noticed. */
const PATIENCE_MS = 300_000
const GOAL = 0.95

const say = (text: string) => void process.stderr.write(`${text}\n`)

/** The first test that failed, and the first line of why; where none did, the last that was said. */
function findFailure(output: string): string {
  const [, test, why] = /^ *FAIL +(.*)\n(.*)/m.exec(output) ?? []
  return test === undefined ? `no test: ${output.trim().slice(-500)}` : `${test}: ${why}`
}

/** Test files that pass without a mutant. */
const green = new Set<string>()

/** Undefined where the tests fail without the mutant. */
async function tryMutant(copy: Copy, mutant: Mutant): Promise<Result | undefined> {
  for (const test of mutant.tests.filter((each) => !green.has(each))) {
    const { failed, output } = await copy.run([test], PATIENCE_MS)
    if (failed) {
      say(`not tried   ${mutant.id}: its tests fail without it: ${findFailure(output)}`)
      return undefined
    }
    green.add(test)
  }
  const begin = performance.now()
  const { failed, hangs, output } = await copy.runWith(mutant, PATIENCE_MS)
  const seconds = Math.round((performance.now() - begin) / 1_000)
  if (hangs) return { outcome: 'hangs', seconds }
  return failed ? { outcome: 'noticed', by: findFailure(output), seconds } : { outcome: 'not noticed', seconds }
}

function tell({ id, breaks, instead }: Mutant, { outcome, seconds }: Result) {
  const keeper = outcome === 'not noticed' && instead ? ` (instead: ${instead})` : ''
  say(`${outcome.padEnd(11)} ${id} (${seconds} s): ${breaks}${keeper}`)
}

/** Tries those that are not in the record yet, and adds them. */
async function tryAll(waiting: Mutant[], record: MutantRecord, broken: AbortSignal) {
  const scratch = mkdtempSync(join(findMemoryFolder() ?? tmpdir(), 'annal-mutants-'))
  const indices = Array.from({ length: Math.min(COPIES, waiting.length) }, (_, index) => String(index))
  const copies = indices.map((index) => new Copy(ROOT, join(scratch, index), broken))
  try {
    for (const copy of copies) await copy.start()
    await Promise.all(
      copies.map(async (copy) => {
        for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
          const result = await tryMutant(copy, mutant)
          if (!result) continue
          record.add(mutant, result)
          tell(mutant, result)
        }
      }),
    )
  } finally {
    for (const copy of copies) await copy.stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function main(broken: AbortSignal) {
  const { values, positionals } = parseArgs({ options: { record: { type: 'string' } }, allowPositionals: true })
  const chosen = mutants.filter(({ id }) => !positionals.length || positionals.some((start) => id.startsWith(start)))
  if (!chosen.length) throw new Error(`No mutant begins with: ${positionals.join(', ')}`)
  const record = new MutantRecord(ROOT, values.record)
  const waiting = chosen.filter((mutant) => !record.find(mutant))
  if (waiting.length < chosen.length) say(`${chosen.length - waiting.length} stand in the record.`)
  if (waiting.length > 0) await tryAll(waiting, record, broken)
  const untried = chosen.filter((mutant) => !record.find(mutant))
  const unnoticed = chosen.filter((mutant) => record.find(mutant)?.outcome === 'not noticed')
  const noticed = chosen.length - unnoticed.length - untried.length
  const pass = noticed / chosen.length >= GOAL && !untried.length && unnoticed.every(({ instead }) => instead)
  const [unnoticedIds, untriedIds] = [unnoticed, untried].map((some) => some.map(({ id }) => id))
  const figure = { mutants: chosen.length, noticed, pass, unnoticed: unnoticedIds, untried: untriedIds }
  process.stdout.write(`${JSON.stringify(figure)}\n`)
  if (!pass) process.exitCode = 1
}

const breaking = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => breaking.abort())
await main(breaking.signal).catch((error: unknown) => {
  if (!breaking.signal.aborted) throw error
  say('Broken off.')
  process.exitCode = 1
})
