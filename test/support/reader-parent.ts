/**
 * A process that starts reader processes. `orphan`: starts one that never ends, prints its PID and waits to be killed.
 * `descriptors`: processes a picture with few free descriptors, and prints the outcome and the number of open descriptors of each
 * attempt.
 */
import { closeSync, openSync, readdirSync } from 'node:fs'
import sharp from 'sharp'
import { createPictureMaker } from '../../src/files/picture-maker.ts'
import { startSandboxedProcess } from '../../src/shared/sandboxed-process.ts'

const TRIES = 16

async function orphan() {
  const { child } = await startSandboxedProcess({
    name: 'Reading',
    program: '',
    flags: ['-e', 'for (;;);'],
    timeout: 1_000,
  })
  process.stdout.write(`${child.pid}\n`)
}

function takeAll(): number[] {
  const held: number[] = []
  for (;;) {
    try {
      held.push(openSync('/dev/null', 'r'))
    } catch {
      return held
    }
  }
}

async function descriptors() {
  const png = await sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  const make = () =>
    createPictureMaker().make(
      (async function* () {
        yield png
      })(),
      [8],
    )
  await make()
  const tries: [outcome: string, open: number][] = []
  for (let left = 0; left < TRIES; left += 1) {
    const held = takeAll()
    for (const descriptor of held.splice(0, left)) closeSync(descriptor)
    const outcome = await make().then(
      () => 'made',
      (error: { code?: string }) => String(error.code),
    )
    for (const descriptor of held) closeSync(descriptor)
    tries.push([outcome, readdirSync('/dev/fd').length])
  }
  // Open handles would keep the process running.
  process.stdout.write(`${JSON.stringify(tries)}\n`, () => process.exit())
}

await { orphan, descriptors }[process.argv[2] as 'orphan' | 'descriptors']()
