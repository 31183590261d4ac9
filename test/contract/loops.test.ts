/**
 * What goes on by itself belongs to one role (`src/background.ts`), so that a process does no more than it is there for. This test reads the
 * sources for what repeats: what is started there, and what belongs to a part that is open, each with its reason.
 */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { roles } from '../../src/shared/process.ts'

const root = new URL('../../src/', import.meta.url)
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')
const files = globSync('**/*.ts', { cwd: root })
  .filter((file) => !/^(db\/prisma|cli)\/|\/generated\//.test(file))
  .sort()

const REPEATS =
  /\bsetInterval\(|\bwhile \(!(?:\w+\.)*(?:signal\.)?(?:aborted|isStopped)\b|\bfor \([^;]*; !(?:\w+\.)*aborted;|\/repeat\.ts'|\bwhile \(held\.size > 0\)|\bcreatePoller\(|\bstartJobLoop\(/

const started: Record<string, string> = {
  'modules/coins/treasury/treasury-worker.ts': 'treasuryWorker',
  'modules/coins/deposits/deposit-watcher.ts': 'deposits',
  'chain/relay/commit-signer.ts': 'relay',
  'chain/relay/relay.ts': 'relay',
  'background.ts': 'every',
  'jobs/jobs.ts': 'startJobs',
}

const ofParts: Record<string, string> = {
  'chain/lease.ts': 'renews what the loops of this process hold, and begins with the first',
  'chain/poller.ts': 'repeats the steps of chain pollers',
  'run-process.ts': 'says that the process lives, whatever it is there for',
  'db/query-timeout.ts': 'looks at the connections of this process',
  'db/event-notifications.ts': 'looks while somebody of this process follows a feed',
  'db/event-loop-stall-detector.ts': 'detects that this process was frozen',
  'embedded/embedded-anvil.ts': 'drives the embedded chain, in the process that owns it',
  'http/http-server.ts': 'closes idle connections while it drains',
  'http/connections.ts': 'looks at the connections of this process',
  'jobs/job-loop.ts': 'is how a queue is worked on',
  'files/pictures/picture-process.ts': 'watches what one picture takes, in a process of its own',
  'modules/events/events.rest.ts': 'ends with the stream',
}

it('every recurring task has a role, or belongs to a part with a reason', () => {
  const repeating = files.filter((file) => REPEATS.test(read(file)))
  const known = { ...started, ...ofParts }
  const unknown = repeating.filter((file) => !(file in known))
  expect(unknown, 'Start it in src/background.ts, with the role that it belongs to').toEqual([])
  expect(Object.keys(known).filter((file) => !repeating.includes(file))).toEqual([])
})

it('only background.ts starts loops, each with a role', () => {
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
