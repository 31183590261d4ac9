/** What clients of the file network are to read, and what they must not. */
import { createCipheriv, createHash } from 'node:crypto'
import { eventually } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import type { TestApp } from '../../support/test-app.ts'

const newBytes = (length: number, seed: string) => {
  const key = createHash('sha256').update(seed).digest()
  return Buffer.from(createCipheriv('aes-256-ctr', key, new Uint8Array(16)).update(new Uint8Array(length)))
}

export const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

export async function publish(app: TestApp) {
  const user = await app.newUser({ num: '100' })
  const register = async (bytes: Buffer, name: string, type: string, isPublic: boolean) => {
    const file = new File([new Uint8Array(bytes)], name, { type })
    return (await user.register({ asset_file: file, public_access: String(isPublic) })).id as string
  }
  const note = Buffer.from(`A small file, ${performance.timeOrigin}.`)
  const film = newBytes(50_000_000, 'a film')
  const small = await register(note, 'note.txt', 'text/plain', true)
  const large = await register(film, 'film.mp4', 'video/mp4', true)
  const hidden = await register(newBytes(600_000, 'a secret'), 'secret.mp4', 'video/mp4', false)
  const { commits } = expectOk(await user.rest('GET', `assets/${small}/history/`))
  const treeCid: string = commits[0].assetTreeCid
  const tree = await eventually(
    async () => {
      const answer = await fetch(`${app.url}/ipfs/${treeCid}`)
      const bytes = Buffer.from(await answer.arrayBuffer())
      return answer.ok ? bytes : undefined
    },
    (bytes) => bytes !== undefined,
  )
  return {
    user,
    small: { cid: small, bytes: note },
    large: { cid: large, bytes: film },
    tree: { cid: treeCid, bytes: tree! },
    hidden,
  }
}

export type Published = Awaited<ReturnType<typeof publish>>
