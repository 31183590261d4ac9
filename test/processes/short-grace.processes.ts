import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { AppContext } from '../../src/context.ts'
import { createContentStore } from '../../src/files/content-store.ts'
import { storeAndPin } from '../../src/modules/assets/pinned-files.ts'
import { eventually } from '../support/eventually.ts'

const GRACE_SECONDS = 1
const FILES = 60

async function* bytes(name: string) {
  yield Buffer.alloc(262_144)
  yield Buffer.from(name.repeat(20_000))
}

it('garbage collection deletes all unused blocks, but never blocks of needed or incoming files', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'annal-grace-'))
  const [blocks, pins] = [join(dir, 'blocks'), join(dir, 'pins')]
  await mkdir(pins)
  const store = createContentStore({ dir: blocks })
  const failures: unknown[] = []
  const context = {
    config: { files: { garbageGraceSeconds: GRACE_SECONDS } },
    log: { error: (fields: unknown) => void failures.push(fields) },
  } as unknown as AppContext
  const start = () => {
    const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'collector.ts')]
    const child = spawn(process.execPath, [...args, blocks, pins, String(GRACE_SECONDS)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return { child, ready: once(child.stdout, 'data') }
  }
  const collectors = [start(), start()]
  const kill = async (at: number) => {
    const { child } = collectors[at]!
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  try {
    await Promise.all(collectors.map(({ ready }) => ready))
    const kept: string[] = []
    const orphans: string[] = []
    for (let number = 0; number < FILES; number += 1) {
      kept.push(
        await storeAndPin(
          context,
          () => store.importFile(bytes(`kept ${number} `)),
          async ({ cid }) => {
            await writeFile(join(pins, cid), '')
            return cid
          },
        ),
      )
      orphans.push((await store.importFile(bytes(`orphan ${number} `))).cid)
      if (number % 10 === 3) {
        await kill(0)
        collectors[0] = start()
        await collectors[0].ready
      }
      if (number % 10 === 5) collectors[1]!.child.kill('SIGSTOP')
      if (number % 10 === 9) collectors[1]!.child.kill('SIGCONT')
    }
    const whole = (cids: string[]) => Promise.all(cids.map((cid) => store.isWhole(cid)))
    await eventually(async () => !(await whole(orphans)).includes(true))
    await Promise.all([kill(0), kill(1)])
    async function* needed() {
      yield* kept
    }
    await store.collectGarbage(needed(), GRACE_SECONDS)
    expect((await whole(kept)).filter((is) => !is)).toEqual([])
    expect(failures).toEqual([])
  } finally {
    for (const { child } of collectors) child.kill('SIGKILL')
    await rm(dir, { recursive: true, force: true })
  }
})
