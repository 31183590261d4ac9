/** Sandboxed processes for untrusted input, on a machine without free resources or after their parent ended. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { waitFor } from '../../../src/embedded/server-process.ts'
import { identify } from '../../support/process-identity.ts'

const program = join(import.meta.dirname, '../../support/reader-parent.ts')

function startParent(what: 'orphan' | 'descriptors') {
  const command = ['-c', `ulimit -n 80; exec "$@"`, 'sh', process.execPath, program, what]
  const parent = spawn('/bin/sh', command, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    parent.kill('SIGKILL')
  })
  return parent
}

describe.skipIf(process.platform === 'win32')('sandboxed process for untrusted input', () => {
  it('reports a lack of file descriptors when a sandboxed process starts, and leaks none', async () => {
    const tries = JSON.parse(await text(startParent('descriptors').stdout)) as [string, number][]
    expect(tries.map(([outcome]) => outcome).filter((outcome) => outcome !== 'made')).toContain('UNAVAILABLE')
    expect(new Set(tries.map(([outcome]) => outcome))).toEqual(new Set(['UNAVAILABLE', 'made']))
    const counts = tries.map(([, open]) => open)
    expect(Math.max(...counts)).toBe(Math.min(...counts))
  })

  it('a sandboxed process ends if its parent is killed', async () => {
    const parent = startParent('orphan')
    const [line] = (await once(createInterface(parent.stdout), 'line')) as [string]
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    const reader = Number(line)
    onTestFinished(() => {
      spawn('kill', ['-9', line])
    })
    expect(await identify(reader)).toBeDefined()
    expect(await waitFor(50_000, async () => (await identify(reader)) === undefined || undefined)).toBe(true)
  })
})
