import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { startAnnal } from '../support/annal-command.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { createSharedInstallation, isReady } from '../support/service.ts'

const installation = await createSharedInstallation({ LOG_LEVEL: 'info' })
afterAll(installation.remove)

async function start(stdio: Parameters<typeof startAnnal>[3]) {
  const port = String(await findFreePort())
  const child = startAnnal(installation.dir, ['serve'], { ...installation.env, PORT: port }, stdio)
  const ended = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  const serves = async () => {
    await eventually(async () => child.exitCode !== null || (await isReady(`http://127.0.0.1:${port}`)))
    expect(child.exitCode).toBeNull()
  }
  return { child, ended, serves }
}

it('the service serves requests and stops gracefully if the disk of its log is full', async () => {
  const full = await open('/dev/full', 'w')
  onTestFinished(() => full.close())
  const { child, ended, serves } = await start(['ignore', full.fd, full.fd])
  await serves()
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

it('the service serves requests and stops gracefully if nobody reads its output', async () => {
  const { child, ended, serves } = await start('pipe')
  child.stdout.destroy()
  child.stderr.destroy()
  await serves()
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
