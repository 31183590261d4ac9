import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const path = (name: string) => JSON.stringify(new URL(`../../../src/telemetry/${name}`, import.meta.url).href)

it('logs an unhandled promise rejection as an error and continues', async () => {
  const program = `
    import { createLog, logUnhandledRejections } from ${path('log.ts')}
    logUnhandledRejections(createLog('info'))
    Promise.reject(new Error('Left to nobody'))
    setImmediate(() => console.log('went on'))`
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', program])
  expect(stdout).toBe('went on\n')
  expect(JSON.parse(stderr)).toMatchObject({
    level: 'error',
    msg: 'Unhandled promise rejection',
    err: { message: 'Left to nobody' },
  })
})
