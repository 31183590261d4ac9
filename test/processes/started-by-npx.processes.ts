/** The package's command line as npx starts it: by a shell that passes no signal on. */
import { spawn } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, it } from 'vitest'
import { until } from '../support/eventually.ts'

const dir = await mkdtemp(join(tmpdir(), 'annal-npx-'))
afterAll(() => rm(dir, { recursive: true }))
await Promise.all(['bin', 'dist/src'].map((folder) => mkdir(join(dir, folder), { recursive: true })))
await writeFile(join(dir, 'package.json'), '{"type":"module"}')
await copyFile(join(import.meta.dirname, '../../bin/annal.js'), join(dir, 'bin/annal.js'))
/** Says when it is told to end, and when it has gone on for a second without the shell. */
const cli = `
  const shell = process.ppid
  const look = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(look)
    later = setTimeout(() => console.log('goes on'), 1_000)
  }, 20)
  let later
  const timer = setInterval(() => {}, 1_000)
  process.once('SIGTERM', () => {
    console.log('told to end')
    for (const each of [look, later, timer]) clearTimeout(each)
  })
  console.log('pid ' + process.pid)`
await writeFile(join(dir, 'dist/src/cli.js'), cli)

/** Starts it below a shell; tells its process number, what it has said so far, and all that it says until its end. */
async function start(env: Record<string, string>) {
  const line = `"${process.execPath}" "$0"; exit $?`
  const shell = spawn('/bin/sh', ['-c', line, join(dir, 'bin/annal.js')], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  shell.stdout.on('data', (piece: Buffer) => {
    said += piece
  })
  const whole = text(shell.stdout)
  const pid = Number((await until('it runs', () => /pid (\d+)/.exec(said) ?? undefined))[1])
  return { shell, pid, said: () => said, whole }
}

it('ends when npx is told to', async () => {
  const { shell, pid, said, whole } = await start({ npm_lifecycle_event: 'npx', npm_lifecycle_script: "'annal'" })
  shell.kill('SIGTERM')
  await until('it has heard or gone on', () => /told to end|goes on/.test(said()))
  if (said().includes('goes on')) process.kill(pid, 'SIGTERM')
  expect(await whole).not.toContain('goes on')
})

it('goes on when a shell of somebody else has ended', async () => {
  const { shell, pid, said, whole } = await start({
    npm_lifecycle_event: 'npx',
    npm_lifecycle_script: "'concurrently'",
  })
  shell.kill('SIGTERM')
  await until('it has gone on', () => said().includes('goes on'))
  expect(said()).not.toContain('told to end')
  process.kill(pid, 'SIGTERM')
  expect(await whole).toContain('told to end')
})
