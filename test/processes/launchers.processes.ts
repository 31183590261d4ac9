/** Launchers of the package's command line: npx, its shell, and an older Node. */
import { spawn } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, it } from 'vitest'
import { until } from '../support/eventually.ts'

const dir = await mkdtemp(join(tmpdir(), 'annal-launchers-'))
afterAll(() => rm(dir, { recursive: true }))
for (const folder of ['bin', 'dist/src', 'node_modules/.bin']) await mkdir(join(dir, folder), { recursive: true })
await writeFile(join(dir, 'package.json'), '{"type":"module"}')
const bin = join(dir, 'bin/annal.js')
await copyFile(join(import.meta.dirname, '../../bin/annal.js'), bin)
await symlink(bin, join(dir, 'node_modules/.bin/annal'))
await symlink(join(import.meta.dirname, '../../node_modules/node'), join(dir, 'node_modules/node'))
/** Reports SIGTERM, and reports when it has run for a second after its parent process ended. */
const cli = `
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    later = setTimeout(() => console.log('goes on'), 1_000)
  }, 20)
  let later
  const timer = setInterval(() => {}, 1_000)
  process.once('SIGTERM', () => {
    console.log('reported to end')
    for (const each of [look, later, timer]) clearTimeout(each)
  })
  console.log('pid ' + process.pid)`
await writeFile(join(dir, 'dist/src/cli.js'), cli)

async function start(program: string, args: readonly string[], env: Record<string, string> = {}) {
  const launcher = spawn(program, args, {
    cwd: dir,
    env: { PATH: process.env.PATH, HOME: dir, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  launcher.stdout.on('data', (piece: Buffer) => {
    said += piece
  })
  const output = text(launcher.stdout)
  const [, pid] = await until('the command line runs', () => /pid (\d+)/.exec(said) ?? undefined)
  return { launcher, pid: Number(pid), said: () => said, output }
}

const startInShell = (env: Record<string, string>) =>
  start('/bin/sh', ['-c', `"${process.execPath}" "$0"; exit $?`, bin], env)

/** Waits until the command line has received SIGTERM, and stops it when it has not. */
async function expectEnd({ pid, said, output }: Awaited<ReturnType<typeof start>>) {
  await until('it has heard or gone on', () => /reported to end|goes on/.test(said()))
  if (!said().includes('reported to end')) process.kill(pid, 'SIGTERM')
  expect(await output).not.toContain('goes on')
}

it('the service ends when the shell of npx is terminated', async () => {
  const started = await startInShell({ npm_lifecycle_event: 'npx', npm_lifecycle_script: "'annal'" })
  started.launcher.kill('SIGTERM')
  await expectEnd(started)
})

it('the service continues when the shell of another program ends', async () => {
  const started = await startInShell({ npm_lifecycle_event: 'npx', npm_lifecycle_script: "'concurrently'" })
  started.launcher.kill('SIGTERM')
  await until('it has gone on', () => started.said().includes('goes on'))
  expect(started.said()).not.toContain('reported to end')
  process.kill(started.pid, 'SIGTERM')
  expect(await started.output).toContain('reported to end')
})

it.each(['SIGTERM', 'SIGKILL'] as const)('the service ends when npx gets %s', async (signal) => {
  const started = await start('npx', ['annal', 'serve'])
  started.launcher.kill(signal)
  await until('it has heard', () => started.said().includes('reported to end'), 10_000).catch((error: unknown) => {
    process.kill(started.pid, 'SIGTERM')
    throw error
  })
})

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'the service ends when its launcher on an older Node gets %s',
  async (signal) => {
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
    const preload = `data:text/javascript,${encodeURIComponent(pretend)}`
    const started = await start(process.execPath, ['--import', preload, bin, 'serve'])
    expect(started.pid).not.toBe(started.launcher.pid)
    started.launcher.kill(signal)
    await expectEnd(started)
  },
)
