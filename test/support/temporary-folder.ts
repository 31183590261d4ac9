import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from './at-end.ts'

export async function createTemporaryFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'annal-'))
  atEnd(() => rm(dir, { recursive: true, force: true }))
  return dir
}
