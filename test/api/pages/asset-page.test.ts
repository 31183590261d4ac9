import { CarBlockIterator } from '@ipld/car/iterator'
import { Wallet } from 'ethers'
import { describe, expect, it, vi } from 'vitest'
import { encodeCommit } from '../../../src/chain/registry/abi.ts'
import { createRegistry } from '../../../src/chain/registry/registry.ts'
import { createRpc } from '../../../src/chain/rpc.ts'
import { unavailable } from '../../../src/shared/errors.ts'
import { poll } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import type { Answer } from '../../support/http-client.ts'
import { createTestApp, fundedKey, newFile, registerWith } from '../../support/test-app.ts'

const app = await createTestApp({ withChain: true, env: { TRUSTED_PROXIES: '127.0.0.1' } })

const owner = await app.newUser({ num: '100' })
const patch = async (id: string, json: object) => expectOk(await owner.rest('PATCH', `assets/${id}/`, { json }))
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
const addressIn = (url: string) => url.slice(app.url.length)
const titleOf = ({ text }: Answer) => /<title>(.*)<\/title>/.exec(text)?.[1]
const property = (text: string, name: string) =>
  new RegExp(`<meta property="${name}" content="([^"]*)">`).exec(text)?.[1]

const fields = { headline: 'First', caption: `</script><script>alert("x")</script> & 'so on'`, public_access: 'true' }
const nid: string = (await registerWith(owner.rest, { asset_file: newFile(), ...fields })).body.id
const path = `/assets/${nid}`
await patch(nid, { headline: 'Second', commit_message: 'Say it better' })
await patch(nid, { nit_commit_custom: { license: { name: 'CC0' } } })
await poll(() => owner.rest('GET', `assets/${nid}/history/`)).until(
  ({ body: { commits } }) =>
    commits.length === 3 && commits.every(({ status }: { status: string }) => status === 'final'),
)

describe('page of a public asset', () => {
  it('the asset page shows the asset and its commits with their transactions, newest first', async () => {
    const page = await app.rest('GET', path)
    expect([page.status, titleOf(page)]).toEqual([200, 'Second – Annal'])
    const { body } = await owner.rest('GET', `assets/${nid}/history/`)
    for (const { txHash } of body.commits) expect(page.text).toContain(txHash)
    const items = page.text
      .match(/<li>[\s\S]*?<\/li>/g)!
      .map((item) => item.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '))
    expect(items[0]).toContain('license {')
    expect(items[1]).toMatch(/Say it better Title before: First → after: Second On the chain settled Block \d+/)
    expect(items[2]).toContain('Registered the file')
    expect(page.text).toContain(`<img src="${app.url}/ipfs/${nid}"`)
  })

  it('the asset page escapes HTML in user texts', async () => {
    const { text } = await app.rest('GET', path)
    expect(text).not.toContain('<script>alert')
    expect(text).toContain('&lt;/script&gt;&lt;script&gt;alert(&quot;x&quot;)')
  })

  it('the asset page contains metadata for search engines and link previews', async () => {
    const { text } = await app.rest('GET', path)
    expect(property(text, 'og:title')).toBe('Second')
    expect(property(text, 'og:image')).toBe(`${app.url}/ipfs/${nid}`)
    expect(text).toContain(`<link rel="canonical" href="${app.url + path}">`)
  })

  it('the headers of the asset page forbid scripts, framing and referrers', async () => {
    const { headers } = await app.rest('GET', path)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      vary: 'Accept-Language, Authorization',
    })
    const policy = headers.get('content-security-policy')!
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self' http:[^;]+; /)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('script-src')
  })

  it.each(['zh-TW', 'zh-HK', 'zh-MO'])('the asset page is in Traditional Chinese for the language %s', async (tag) => {
    const page = await app.rest('GET', path, { headers: { 'Accept-Language': tag } })
    expect(page.headers.get('content-language')).toBe('zh-TW')
    expect(page.text).toContain('<h2 id="history">歷程</h2>')
  })

  it('the button of the asset page verifies the asset on the chain and shows the result', async () => {
    const checked = await poll(async () => {
      await app.chain.registry.rpc.call('evm_mine')
      return app.rest('POST', path, { urlencoded: {} })
    }).until(({ text }) => text.includes('The history is valid'))
    expect(checked.status).toBe(200)
    expect(checked.text.match(/This commit: <span class="mark good">/g)).toHaveLength(3)
    const address = await app.chain.registry.findAddress(await app.chain.registry.readChainId())
    expect(checked.text).toContain(`npx --no -- annal-verify ${nid} --rpc &lt;a node of chain`)
    expect(checked.text).toContain(`--registry ${address} --gateway ${app.url}`)
    expect(checked.text).toContain(`${app.url}/api/v3/assets/${nid}/proof/`)
    expect((await app.rest('GET', path)).text).not.toContain('The history is valid')
  })

  it('the asset page is shown even if the chain is unavailable', async () => {
    const verify = vi.spyOn(app.context.histories!, 'verify').mockRejectedValueOnce(unavailable('The chain'))
    const page = await app.rest('POST', path, { urlencoded: {} })
    verify.mockRestore()
    expect([page.status, titleOf(page)]).toEqual([200, 'Second – Annal'])
    expect(page.text).toContain('The check is not available right now')
  })
})

it("the asset page separates custom fields from the service's own fields with the same name", async () => {
  const custom = { 'Registered by': 'Grace Hopper', Registered: 'January 1, 1999', 'SHA-256': '0'.repeat(64) }
  const fields = { public_access: 'true', nit_commit_custom: JSON.stringify(custom) }
  const { body } = await registerWith(owner.rest, { asset_file: newFile(), ...fields })
  const { text } = await app.rest('GET', `/assets/${body.id}`)
  const section = (id: string) => new RegExp(`<section aria-labelledby="${id}">.*?</section>`, 's').exec(text)?.[0]
  for (const [name, value] of Object.entries(custom)) {
    expect(section('about')!.split(`<dt>${name}</dt>`)).toHaveLength(2)
    expect(section('about')).not.toContain(value)
    expect(section('described')).toContain(`<dt>${name}</dt><dd>${value}</dd>`)
  }
  expect(section('described')).toContain('The owner chose the names and the values of these fields')
})

it('the asset page splits a long history into pages, also for share links', async () => {
  const { id } = await owner.register()
  for (let n = 1; n <= 50; n += 1) await patch(id, { caption: `Said ${n} times` })
  const { body } = await owner.rest('POST', `assets/${id}/links/`, { json: {} })
  const newest = await app.rest('GET', addressIn(body.url))
  expect(newest.text).toContain('<ins>Said 50 times</ins>')
  expect(newest.text).not.toContain('Registered the file')
  const follow = ({ text }: Answer, words: string) =>
    app.rest('GET', addressIn(new RegExp(`href="([^"#]+)#history">${words}`).exec(text)![1]!.replaceAll('&amp;', '&')))
  const older = await follow(newest, 'Older commits')
  expect(older.text).toContain('Registered the file')
  expect(older.text).not.toContain('Older commits')
  expect((await follow(older, 'The newest commits')).text).toContain('<ins>Said 50 times</ins>')
})

describe('page of a private asset', () => {
  it('the page of a private asset is visible only to its owner, and is not cached or indexed', async () => {
    const { id } = await owner.register({ caption: 'Mine' })
    const own = await owner.rest('GET', `/assets/${id}`)
    expect([own.status, own.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(own.headers.get('x-robots-tag')).toBe('noindex')
    expect(own.text).not.toMatch(/og:|canonical/)
    const other = await app.newUser()
    const unknown = await app.rest('GET', `/assets/${id.slice(0, -4)}aaaa`)
    expect([unknown.status, titleOf(unknown)]).toEqual([404, 'This asset does not exist here'])
    for (const ask of [app.rest, other.rest]) {
      for (const answer of [
        await ask('GET', `/assets/${id}`),
        await ask('POST', `/assets/${id}`, { urlencoded: {} }),
      ]) {
        expect([answer.status, answer.text]).toEqual([404, unknown.text])
      }
    }
  })

  it('a share link from either API gives access to the page and the proof of a private asset', async () => {
    const { id } = await owner.register({ caption: 'Shown to a friend' })
    await poll(() => owner.rest('GET', `assets/${id}/history/`)).until(
      ({ body: { commits } }) => commits[0].status === 'final',
    )
    const { createAssetLink } = expectOk(
      await owner.graphql(`mutation { createAssetLink(input: { id: "${id}" }) { link { url expiresAt } } }`),
    )
    const made = await owner.rest('POST', `assets/${id}/links/`, { json: { expires_at: inDays(1) } })
    expect([made.status, made.body.expires_at.slice(0, 13)]).toEqual([201, inDays(1).slice(0, 13)])
    for (const url of [createAssetLink.link.url, made.body.url]) {
      const page = await app.rest('GET', addressIn(url))
      expect(page.status).toBe(200)
      expect(page.text).toContain('Shown to a friend')
      expect(Object.fromEntries(page.headers)).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
      })
      expect(page.text).not.toMatch(/og:|canonical|--gateway/)
      expect((await app.rest('POST', addressIn(url), { urlencoded: {} })).text).toContain('<span class="mark good">')
      const [, proof] = /href="([^"]+)" download>/.exec(page.text)!
      const file = await fetch(proof!.replaceAll('&amp;', '&'))
      expect([file.status, file.headers.get('content-type')]).toEqual([200, 'application/vnd.ipld.car; version=1'])
      const [, picture] = /<img src="([^"]+)"/.exec(page.text)!
      expect((await fetch(picture!.replaceAll('&amp;', '&'))).status).toBe(200)
      expect(JSON.stringify(app.log.lines)).not.toContain(new URL(url).searchParams.get('signature'))
    }
  })

  it('returns 404 for a share link of another asset, with another ID or another signature', async () => {
    const [{ id }, { id: other }] = [await owner.register(), await owner.register()]
    const newLink = async () => (await owner.rest('POST', `assets/${id}/links/`, { json: {} })).body
    const [link, another] = [await newLink(), await newLink()]
    const { pathname, searchParams } = new URL(link.url)
    const signature = searchParams.get('signature')!
    for (const address of [
      pathname,
      `/assets/${other}?link=${link.id}&signature=${signature}`,
      `${pathname}?link=${another.id}&signature=${signature}`,
      `${pathname}?link=${link.id}&signature=${signature.slice(0, -1)}`,
      `${pathname}?link=${link.id}`,
      `${pathname}?link=&signature=${signature}`,
      `${pathname}?link=${link.id.replace('link', 'session')}&signature=${signature}`,
      `/api/v3/assets/${other}/proof?link=${link.id}&signature=${signature}`,
    ]) {
      expect((await app.rest('GET', address)).status, address).toBe(404)
    }
    expect((await app.rest('GET', addressIn(link.url))).status).toBe(200)
  })

  it('the owner can list share links with their last use, and revoke them in either API', async () => {
    const { id } = await owner.register()
    const make = async (label: string) =>
      (await owner.rest('POST', `assets/${id}/links/`, { json: { label } })).body as Record<'id' | 'url', string>
    const [museum, friend, unused] = [await make(' The museum\u0007 '), await make('A friend'), await make('')]
    const opens = async ({ url }: { url: string }) => (await app.rest('GET', addressIn(url))).status === 200
    const listed = async () => expectOk(await owner.rest('GET', `assets/${id}/links/`))
    expect(await Promise.all([museum, friend].map(opens))).toEqual([true, true])
    const first = await listed()
    expect(first).toMatchObject({
      count: 3,
      results: [
        { ...unused, label: '', revoked_at: null, last_used_at: null },
        { id: friend.id, label: 'A friend', last_used_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:00:00/) },
        { id: museum.id, url: museum.url, label: 'The museum' },
      ],
    })
    await app.sql(`update asset_links set last_used_at = last_used_at - interval '5 hours' where label = 'A friend'`)
    expect(await opens(friend)).toBe(true)
    expect((await listed()).results[1].last_used_at >= first.results[1].last_used_at).toBe(true)
    expect((await owner.rest('DELETE', `asset-links/${museum.id}/`)).status).toBe(204)
    const end = `mutation { revokeAssetLink(input: { id: "${friend.id}" }) { link { id revokedAt } } }`
    const { revokeAssetLink } = expectOk(await owner.graphql(end))
    expect(expectOk(await owner.graphql(end)).revokeAssetLink).toEqual(revokeAssetLink)
    expect(await Promise.all([museum, friend, unused].map(opens))).toEqual([false, false, true])
    const query = `{ asset(id: "${id}") { links(first: 2) { totalCount pageInfo { endCursor } nodes { id revokedAt } } } node(id: "${friend.id}") { id } }`
    const { asset, node } = expectOk(await owner.graphql(query))
    expect(node).toEqual({ id: friend.id })
    expect(asset.links).toEqual({
      totalCount: 3,
      pageInfo: { endCursor: friend.id },
      nodes: [{ id: unused.id, revokedAt: null }, revokeAssetLink.link],
    })
    const rest = `{ asset(id: "${id}") { links(after: "${friend.id}") { nodes { id } } } }`
    expect(expectOk(await owner.graphql(rest)).asset.links.nodes).toEqual([{ id: museum.id }])
    const wrong = `{ asset(id: "${id}") { links(after: "${id}") { nodes { id } } } }`
    expectError(await owner.graphql(wrong), 'VALIDATION_FAILED')
  })

  it('only the owner can list or revoke the share links of an asset, even if it is public', async () => {
    const { body: link } = await owner.rest('POST', `assets/${nid}/links/`, { json: {} })
    const stranger = await app.newUser()
    const query = `{ asset(id: "${nid}") { links { nodes { url } } } node(id: "${link.id}") { id } }`
    for (const asking of [stranger, app]) {
      expect(expectOk(await asking.graphql(query))).toEqual({ asset: { links: null }, node: null })
    }
    expectError(await stranger.rest('GET', `assets/${nid}/links/`), 'ASSET_WRITE_PERMISSION_DENIED')
    expectError(await app.rest('GET', `assets/${nid}/links/`), 'NOT_AUTHENTICATED')
    expectError(await stranger.rest('DELETE', `asset-links/${link.id}/`), 'NOT_FOUND')
    expectError(await owner.rest('DELETE', `asset-links/${nid}/`), 'NOT_FOUND')
    expect((await owner.rest('GET', `assets/${nid}/links/`)).body.results).toMatchObject([{ revoked_at: null }])
  })

  it('an asset has at most 200 share links, including links revoked within the last month', async () => {
    const { id, uuid } = await owner.register()
    await app.sql(
      `insert into asset_links (asset_id, expires_at, revoked_at)
       select $1::uuid, now() + interval '1 day', case when n > 1 then now() - interval '29 days' end from generate_series(1, 200) n`,
      [uuid],
    )
    const refused = expectError(await owner.rest('POST', `assets/${id}/links/`, { json: {} }), 'VALIDATION_FAILED')
    expect(refused.body.error.message).toContain('at most 200 links')
    await app.sql(`update asset_links set revoked_at = revoked_at - interval '2 days' where asset_id = $1::uuid`, [
      uuid,
    ])
    expectOk(await owner.rest('POST', `assets/${id}/links/`, { json: {} }))
    expect((await owner.rest('GET', `assets/${id}/links/`)).body.count).toBe(2)
    expectOk(await owner.rest('DELETE', `assets/${id}/`))
    expect(await app.sql('select 1 from asset_links where asset_id = $1::uuid', [uuid])).toEqual([])
  })

  it('a share link provides a proof without trees of other assets, even if a foreign commit refers to them', async () => {
    const victim = await app.newUser()
    const secret = await victim.register({ caption: 'Nobody else may read this' })
    const { id } = await owner.register()
    const trees: string[] = []
    for (const [who, asset] of [
      [owner, id],
      [victim, secret.id],
    ] as const) {
      const { body } = await poll(() => who.rest('GET', `assets/${asset}/history/`)).until(
        ({ body: { commits } }) => commits[0].status === 'final',
      )
      trees.push(body.commits[0].assetTreeCid)
    }
    // Tree identifiers are public on the chain.
    const said = {
      ...{ assetTreeCid: trees[1], assetTreeSha256: '', assetTreeSignature: null, author: '', committer: '' },
      ...{ provider: '', timestampCreated: 1, action: '', actionResult: '', actionName: 'action-commit', abstract: '' },
    }
    const rpcUrl = app.env.CHAIN_RPC_URL!
    const registry = createRegistry({ rpcUrl, database: app.installation.database })
    const to = (await registry.findAddress(await registry.readChainId()))!
    const rpc = createRpc({ url: rpcUrl })
    const transaction = { to, data: encodeCommit(id, JSON.stringify(said)), gasLimit: 1_000_000, gasPrice: 10n ** 12n }
    const chainId = await rpc.call<string>('eth_chainId')
    const raw = await new Wallet(await fundedKey()).signTransaction({ ...transaction, chainId, nonce: 0, type: 0 })
    const sent = await rpc.call('eth_sendRawTransaction', raw)
    await poll(() => rpc.call<{ status: string } | null>('eth_getTransactionReceipt', sent)).until(
      (receipt) => receipt?.status === '0x1',
    )
    const { body } = await owner.rest('POST', `assets/${id}/links/`, { json: {} })
    const proof = await fetch(`${app.url}/api/v3/assets/${id}/proof${new URL(body.url).search}`)
    const names: string[] = []
    for await (const { cid } of await CarBlockIterator.fromBytes(new Uint8Array(await proof.arrayBuffer()))) {
      names.push(cid.toString())
    }
    expect(names).toContain(trees[0])
    expect(names).not.toContain(trees[1])
  })

  it('rejects a share link after its revocation, during an account lock, and after a new registration', async () => {
    const asset_file = newFile()
    const { body: asset } = await registerWith(owner.rest, { asset_file })
    const newLink = async () =>
      addressIn((await owner.rest('POST', `assets/${asset.id}/links/`, { json: {} })).body.url)
    const old = await newLink()
    expect((await owner.rest('DELETE', `assets/${asset.id}/links/`)).status).toBe(204)
    const current = await newLink()
    expect([(await app.rest('GET', old)).status, (await app.rest('GET', current)).status]).toEqual([404, 200])
    expect((await app.rest('GET', old)).text).toContain('ask the sender for a new one.')
    await app.sql('update users set locked_at = now() where id = $1::uuid', [owner.id])
    expect((await app.rest('GET', current)).status).toBe(404)
    await app.sql('update users set locked_at = null where id = $1::uuid', [owner.id])
    expect((await app.rest('GET', current)).status).toBe(200)
    const { revokeAssetLinks } = expectOk(
      await owner.graphql(
        `mutation { revokeAssetLinks(input: { id: "${asset.id}" }) { asset { id links(first: 9) { nodes { revokedAt } } } } }`,
      ),
    )
    const ended = { revokedAt: expect.any(String) }
    expect(revokeAssetLinks.asset).toEqual({ id: asset.id, links: { nodes: [ended, ended] } })
    expect((await app.rest('GET', current)).status).toBe(404)
    const last = await newLink()
    expectOk(await owner.rest('DELETE', `assets/${asset.id}/`))
    await registerWith(owner.rest, { asset_file })
    expect((await app.rest('GET', last)).status).toBe(404)
  })

  it('creates one share link per idempotency key, and no link for the key of a revoked link', async () => {
    const { id } = await owner.register()
    const make = (key: string) => owner.rest('POST', `assets/${id}/links/`, { json: {}, key })
    const [first, again] = [await make('one link'), await make('one link')]
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expectOk(await owner.rest('DELETE', `assets/${id}/links/`, { key: 'end them' }))
    expectError(await make('one link'), 'IDEMPOTENCY_KEY_REUSED')
    expectOk(await owner.rest('DELETE', `asset-links/${(await make('single')).body.id}/`))
    expectError(await make('single'), 'IDEMPOTENCY_KEY_REUSED')
    const other = addressIn((await make('another')).body.url)
    expectOk(await owner.rest('DELETE', `assets/${id}/links/`, { key: 'end them' }))
    expect((await app.rest('GET', other)).status).toBe(200)
  })

  it('rejects a share link with a past or distant expiry, or created by another user', async () => {
    const { id } = await owner.register()
    for (const days of [-1, 0, 400]) {
      const answer = await owner.rest('POST', `assets/${id}/links/`, { json: { expires_at: inDays(days) } })
      expect(expectError(answer, 'VALIDATION_FAILED').body.error.details).toHaveProperty('expires_at')
    }
    const stranger = await app.newUser()
    expectError(await stranger.rest('POST', `assets/${id}/links/`, { json: {} }), 'NOT_FOUND')
    expectError(await stranger.rest('DELETE', `assets/${nid}/links/`), 'ASSET_WRITE_PERMISSION_DENIED')
    expectError(await app.rest('POST', `assets/${nid}/links/`, { json: {} }), 'NOT_AUTHENTICATED')
  })
})
