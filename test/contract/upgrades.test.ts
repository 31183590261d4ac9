/** Gateways of the version before go on serving while a new one migrates: what takes away something of theirs is told to operators. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const migrations = readdirSync(join(root, 'prisma/migrations'), { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
)

/** What a statement of the version before may name, or may leave out. */
const takesAway = [
  /\bDROP (TABLE|COLUMN|VIEW|TYPE)\b/i,
  /\bRENAME\b/i,
  /\bDROP DEFAULT\b/i,
  /\bADD COLUMN\b(?![^,;]*\bDEFAULT\b)[^,;]*\bNOT NULL\b/i,
]

/** Migrations that take away only what no version before has used, with why. */
const harmless: Record<string, string> = {
  note_earlier_balances: 'the table of its own progress',
  require_blame: 'the table of its own progress',
  hold_places_for_a_minute: 'places are held since the same version, by `add_processes`',
}

const takingAway = migrations
  .map(({ name }) => ({
    name: name.replace(/^\d+_/, ''),
    sql: readFileSync(join(root, 'prisma/migrations', name, 'migration.sql'), 'utf8').replace(/--.*$/gm, ''),
  }))
  .filter(({ sql }) => takesAway.some((words) => words.test(sql)))
  .map(({ name }) => name)

it('the changes tell to stop the gateways of the version before where a migration takes away what they use', () => {
  const told = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('stop the gateways of the version before'))
  const untold = takingAway.filter((name) => !(name in harmless) && !told.some((line) => line.includes(`\`${name}\``)))
  expect(untold, 'Tell in CHANGELOG.md, beside its name: stop the gateways of the version before)').toEqual([])
})

it('what is called harmless takes something away', () => {
  expect(Object.keys(harmless).filter((name) => !takingAway.includes(name))).toEqual([])
})
