/** What an installation does for somebody, by the REST door. */
import { randomUUID } from 'node:crypto'
import { eventually } from '../../support/eventually.ts'
import { newPicture } from '../../support/pictures.ts'
import { createRest } from '../../support/rest-client.ts'

export type Person = { email: string; password: string; token: string; nid: string }

export async function liveAt(url: string): Promise<Person> {
  const name = `u${randomUUID().slice(0, 12)}`
  const [email, password] = [`${name}@example.org`, 'correct horse battery']
  const rest = createRest(url)
  const ask = async (method: string, path: string, message: Parameters<typeof rest>[2]) => {
    const answer = await rest(method, path, message)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }
  await ask('POST', 'auth/users/', { json: { username: name, email, password } })
  const { auth_token: token } = await ask('POST', 'auth/token/login/', { json: { email, password } })
  const actor = { token }
  const { id: nid } = await ask('POST', 'assets/', {
    actor,
    multipart: { asset_file: await newPicture(), caption: 'Evening at sea' },
  })
  await ask('PATCH', `assets/${nid}/`, { actor, multipart: { headline: 'Sunset' } })
  await eventually(
    () => ask('GET', `assets/${nid}/history/`, { actor }),
    ({ commits }) => commits.length === 2 && commits.every(({ status }: { status: string }) => status === 'final'),
    120_000,
  )
  // A picture is made smaller by a process of its own.
  await eventually(
    () => ask('GET', `assets/${nid}/`, { actor }),
    ({ asset_file, asset_file_thumbnail }) => asset_file_thumbnail !== asset_file,
    120_000,
  )
  return { email, password, token, nid }
}

export async function recallAt(
  url: string,
  { email, password, nid }: Person,
): Promise<{ headline: string; commits: unknown[] }> {
  const rest = createRest(url)
  const { body: session } = await rest('POST', 'auth/token/login/', { json: { email, password } })
  const actor = { token: session.auth_token }
  const [asset, history] = await Promise.all([
    rest('GET', `assets/${nid}/`, { actor }),
    rest('GET', `assets/${nid}/history/`, { actor }),
  ])
  if (asset.status !== 200) throw new Error(`${nid}: ${asset.status} ${asset.text}`)
  return { headline: asset.body.headline, commits: history.body.commits }
}
