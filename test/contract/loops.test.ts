/** Background work belongs to a role (`src/background.ts`). This test searches the sources for loops that are not listed. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { roles } from '../../src/shared/process.ts'

const root = new URL('../../src/', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')
const files = globSync('**/*.ts', { cwd: root })
  .filter((file) => !/^(db\/prisma|cli)\/|\/generated\//.test(file))
  .sort()

const REPEATS =
  /\bsetInterval\(|\bwhile \(!(?:\w+\.)*(?:signal\.)?(?:aborted|isStopped)\b|\bfor \([^;]*; !(?:\w+\.)*aborted;|\/repeat\.ts'|\bwhile \(held\.size > 0\)|\bcreatePoller\(/

const started: Record<string, string> = {
  'modules/coins/treasury/treasury-worker.ts': 'treasuryWorker',
  'modules/coins/deposits/deposit-watcher.ts': 'deposits',
  'chain/relay/commit-signer.ts': 'relay',
  'chain/relay/relay.ts': 'relay',
  'background.ts': 'every',
  'jobs/jobs.ts': 'startJobs',
}

/** Loops that a component of the process starts and stops. */
const ofParts = `chain/lease chain/poller run-process db/database db/database-client db/processes
  embedded/embedded-anvil http/http-server http/connections files/picture-process
  modules/events/events.rest`
  .split(/\s+/)
  .map((name) => `${name}.ts`)

it('every background loop belongs to a process role or a component', () => {
  const repeating = files.filter((file) => REPEATS.test(read(file)))
  expect(repeating, 'Start it in src/background.ts, with its role').toEqual(
    [...Object.keys(started), ...ofParts].sort(),
  )
})

it('only background.ts starts background loops, each with a process role', () => {
  const starts = /\bstartJobs\(|\/repeat\.ts'|\.(?:relay|deposits|treasuryWorker)\.start\(\)|\.work\('/
  const mayStart = ['background.ts', 'run-process.ts', 'jobs/jobs.ts', 'jobs/repeat.ts']
  expect(files.filter((file) => starts.test(read(file)) && !mayStart.includes(file))).toEqual([])
  expect(read('run-process.ts').match(/\brepeat\(.*/g)).toEqual([expect.stringMatching(/^repeat\(presence\.beat,/)])

  const text = read('background.ts')
  for (const name of new Set(Object.values(started))) expect(text, name).toContain(name)
  const given = [...text.matchAll(/\brole: '(\w+)'/g)].map(([, role]) => role)
  expect(given.filter((role) => !(roles as readonly unknown[]).includes(role))).toEqual([])
  expect([...new Set(given)].sort()).toEqual([...roles].sort())
})
