/** What somebody with a long history reads: the first page of each of their lists, and one far behind it. */
import type pg from 'pg'
import { toId } from '../../src/shared/ids.ts'
import { seededToken } from './seed-statements.ts'

/** A request that is sent as it stands. */
export interface Read {
  name: string
  path: string
  token?: string
  query?: string
  variables?: object
}

const PAGE = 100
/** How far behind the first one a late page begins, where the list is as long. */
const PAGES = 1_000

const listed: Record<string, string> = {
  transfers: 'id kind num points balance { num points }',
  events: 'id type',
  assets: 'nid caption',
  orders: 'id status',
}

const pageInfo = 'pageInfo { startCursor endCursor }'

async function ask<T>(url: string, query: string, variables: object, token: string): Promise<T> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `token ${token}` },
    body: JSON.stringify({ query, variables }),
  })
  const { data, errors } = (await answer.json()) as { data: T; errors?: unknown }
  if (errors) throw new Error(`${query} was answered with ${JSON.stringify(errors)}`)
  return data
}

interface Page {
  pageInfo: { startCursor: string | null }
}

/** The asset whose history is the longest. */
async function findLongest(client: pg.Client) {
  const { rows } = await client.query<{ nid: string; head: number }>(
    `select nid, head_sequence as head from assets where owner_id = (select user_id from access_tokens where hash = sha256($1::bytea))
     order by head_sequence desc limit 1`,
    [seededToken(1)],
  )
  return rows[0]!
}

const post = (name: string, query: string, variables: object, token: string): Read => ({
  name,
  path: '/graphql',
  token,
  query,
  variables,
})

/** The reads of the wallet that stands out, with the same of an ordinary one beside them. */
export async function readsOf(url: string, client: pg.Client): Promise<Read[]> {
  const [whale, other] = [seededToken(1), seededToken(7)]
  const reads: Read[] = []
  for (const [name, fields] of Object.entries(listed)) {
    const query = `query ($after: String) { ${name}(first: ${PAGE}, after: $after) { nodes { ${fields} } ${pageInfo} } }`
    reads.push(post(`${name}, first page`, query, {}, whale))
    const last = `query ($last: Int) { ${name}(last: $last) { nodes { ${fields} } ${pageInfo} } }`
    const found = await ask<Record<string, Page>>(url, last, { last: PAGE }, whale)
    const late = found[name]!.pageInfo.startCursor
    if (late) reads.push(post(`${name}, late page`, query, { after: late }, whale))
    reads.push(post(`${name}, of somebody else`, query, {}, other))
  }
  const { nid, head } = await findLongest(client)
  const history = `query ($nid: ID!, $after: String, $first: Int, $last: Int) { asset(id: $nid) { commits(first: $first, last: $last, after: $after) { nodes { id message } ${pageInfo} } } }`
  const { asset } = await ask<{ asset: { commits: Page } }>(url, history, { nid, last: PAGE }, whale)
  const { rows } = await client.query<{ id: string }>(
    'select c.id from commits c join assets a on a.id = c.asset_id where a.nid = $1 and c.sequence = $2',
    [nid, Math.max(1, head - PAGES * PAGE)],
  )
  const before = toId('commit', rows[0]!.id)
  const version = 'query ($nid: ID!, $commit: ID!) { asset(id: $nid) { version(commitId: $commit) { caption } } }'
  reads.push(post('commits of an asset, first page', history, { nid, first: PAGE }, whale))
  reads.push(
    post(
      'commits of an asset, late page',
      history,
      { nid, first: PAGE, after: asset.commits.pageInfo.startCursor },
      whale,
    ),
  )
  reads.push(post('an old version of an asset', version, { nid, commit: before }, whale))
  reads.push({ name: 'asset with the longest history', path: `/api/v3/assets/${nid}/`, token: whale })
  reads.push({ name: 'me', path: '/api/v3/auth/users/me/', token: whale })
  return reads
}

/** Sends one. */
export async function sendRead(
  url: string,
  { path, token, query, variables }: Read,
): Promise<{ status: number; text: string; isGood: boolean }> {
  const headers: Record<string, string> = token ? { Authorization: `token ${token}` } : {}
  const answer = query
    ? await fetch(url + path, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      })
    : await fetch(url + path, { headers })
  const text = await answer.text()
  return { status: answer.status, text, isGood: answer.ok && !text.includes('"errors":[') }
}
