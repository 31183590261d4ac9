/**
 * What goes on by itself belongs to one role (`src/loops.ts`), so that a process does no more than it is there for. This test reads the
 * sources for what repeats: what is started there, and what belongs to a part that is open, each with its reason.
 */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { roles } from '../../src/domain/roles.ts'

const root = new URL('../../src/', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')
const files = globSync('**/*.ts', { cwd: root })
  .filter((file) => !/^(platform\/prisma|(rest|pages)\/generated|cli|verify)\//.test(file))
  .sort()

const REPEATS =
  /\bsetInterval\(|\bwhile \(!(?:\w+\.)*(?:signal\.)?(?:aborted|isStopped)\b|\bfor \([^;]*; !(?:\w+\.)*aborted;|\/repeat\.ts'|\bwhile \(held\.size > 0\)|\bcreateWatch\(|\bstartJobLoop\(/

const started: Record<string, string> = {
  'chain/coins/mover.ts': 'coins',
  'chain/deposits/deposits.ts': 'deposits',
  'chain/relay/prepare.ts': 'relay',
  'chain/relay/relay.ts': 'relay',
  'loops.ts': 'every',
  'platform/jobs/jobs.ts': 'startJobs',
}

const ofParts: Record<string, string> = {
  'chain/lease.ts': 'renews what the loops of this process hold, and begins with the first',
  'chain/watch.ts': 'is how the watches of the chain go on',
  'run-process.ts': 'says that the process lives, whatever it is there for',
  'platform/database/answer-watch.ts': 'looks at the connections of this process',
  'platform/database/event-notifications.ts': 'looks while somebody of this process follows a feed',
  'platform/database/wake-watch.ts': 'notices that this process stood still',
  'platform/embedded/embedded-anvil.ts': 'drives the embedded chain, in the process that owns it',
  'platform/http/http-server.ts': 'closes idle connections while it drains',
  'platform/http/slow-readers.ts': 'looks at the connections of this process',
  'platform/jobs/job-loop.ts': 'is how a queue is worked on',
  'platform/pictures/picture-process.ts': 'watches what one picture takes, in a process of its own',
  'rest/event-stream.ts': 'ends with the stream',
}

it('whatever goes on by itself is started for one role, or belongs to a part that says why', () => {
  const repeating = files.filter((file) => REPEATS.test(read(file)))
  const known = { ...started, ...ofParts }
  const unknown = repeating.filter((file) => !(file in known))
  expect(unknown, 'Start it in src/loops.ts, with the role that it belongs to').toEqual([])
  expect(Object.keys(known).filter((file) => !repeating.includes(file))).toEqual([])
})

it('nothing but loops.ts starts a loop, and there each has its role', () => {
  const starts = /\bstartJobs\(|\/repeat\.ts'|\.(?:relay|deposits|coins)\.start\(\)|\.work\('/
  const mayStart = ['loops.ts', 'run-process.ts', 'platform/jobs/jobs.ts', 'platform/jobs/repeat.ts']
  expect(files.filter((file) => starts.test(read(file)) && !mayStart.includes(file))).toEqual([])
  expect(read('run-process.ts').match(/\brepeat\(.*/g)).toEqual([expect.stringMatching(/^repeat\(presence\.beat,/)])

  const text = read('loops.ts')
  for (const name of new Set(Object.values(started))) expect(text, name).toContain(name)
  const given = [...text.matchAll(/\brole: '(\w+)'/g)].map(([, role]) => role)
  expect(given.filter((role) => !(roles as readonly unknown[]).includes(role))).toEqual([])
  expect([...new Set(given)].sort()).toEqual([...roles].sort())
})
