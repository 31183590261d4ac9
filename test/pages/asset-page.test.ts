import { beforeAll, describe, expect, it, vi } from 'vitest'
import { unavailable } from '../../src/domain/errors.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import type { Answer } from '../support/http-client.ts'
import { createTestApp, newFile, registerWith, type SignedIn } from '../support/test-app.ts'

const HOSTILE = `</script><script>alert("x")</script> & 'so on'`

const app = await createTestApp({ withChain: true })
let owner: SignedIn
let nid: string
let path: string

const patch = async (id: string, json: object) => expectOk(await owner.rest('PATCH', `assets/${id}/`, { json }))
const titleOf = ({ text }: Answer) => /<title>(.*)<\/title>/.exec(text)?.[1]
const property = (text: string, name: string) =>
  new RegExp(`<meta property="${name}" content="([^"]*)">`).exec(text)?.[1]

beforeAll(async () => {
  owner = await app.newUser({ num: '100' })
  const fields = { headline: 'First', caption: HOSTILE, public_access: 'true' }
  const { body } = await registerWith(owner.rest, { asset_file: newFile(), ...fields })
  nid = body.id
  path = `/assets/${nid}`
  await patch(nid, { headline: 'Second', commit_message: 'Say it better' })
  await patch(nid, { nit_commit_custom: { license: { name: 'CC0' } } })
  await eventually(
    () => owner.rest('GET', `assets/${nid}/history/`),
    ({ body: { commits } }) =>
      commits.length === 3 && commits.every(({ status }: { status: string }) => status === 'final'),
  )
})

describe('the page of a public asset', () => {
  it('tells what it is, who changed what, and what carries it, newest first', async () => {
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

  it('lets nobody’s words be anything but words', async () => {
    const { text } = await app.rest('GET', path)
    expect(text).not.toContain('<script>alert')
    expect(text).toContain('&lt;/script&gt;&lt;script&gt;alert(&quot;x&quot;)')
  })

  it('has metadata for search engines, and for whoever shows the link', async () => {
    const { text } = await app.rest('GET', path)
    const data = JSON.parse(/<script type="application\/ld\+json">(.*)<\/script>/.exec(text)![1]!)
    expect(data).toMatchObject({
      '@type': 'ImageObject',
      url: app.url + path,
      identifier: nid,
      name: 'Second',
      description: HOSTILE,
      contentUrl: `${app.url}/ipfs/${nid}`,
      creator: { name: owner.username },
    })
    expect(property(text, 'og:title')).toBe('Second')
    expect(property(text, 'og:image')).toBe(`${app.url}/ipfs/${nid}`)
    expect(text).toContain(`<link rel="canonical" href="${app.url + path}">`)
  })

  it('lets no script run and no other page frame it, and tells nobody where its reader was', async () => {
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

  it.each(['zh-TW', 'zh-HK', 'zh-MO'])('speaks Traditional Chinese to readers of %s', async (tag) => {
    const page = await app.rest('GET', path, { headers: { 'Accept-Language': tag } })
    expect(page.headers.get('content-language')).toBe('zh-TW')
    expect(page.text).toContain('<h2 id="history">歷程</h2>')
  })

  it('has the chain asked by its button, and tells what a verifier finds', async () => {
    const checked = await eventually(
      async () => {
        await app.chain.registry.rpc.call('evm_mine')
        return app.rest('POST', path, { urlencoded: {} })
      },
      ({ text }) => text.includes('It holds'),
    )
    expect(checked.status).toBe(200)
    expect(checked.text.match(/This commit: <span class="mark good">/g)).toHaveLength(3)
    const address = await app.chain.registry.findAddress(await app.chain.registry.readChainId())
    expect(checked.text).toContain(`npx annal-verify ${nid} --rpc &lt;a node of chain`)
    expect(checked.text).toContain(`--registry ${address} --gateway ${app.url}`)
    expect(checked.text).toContain(`${app.url}/api/v3/assets/${nid}/proof/`)
    expect((await app.rest('GET', path)).text).not.toContain('It holds')
  })

  it('is shown though the chain cannot be asked', async () => {
    vi.spyOn(app.services.histories, 'verify').mockRejectedValueOnce(unavailable('The chain'))
    const page = await app.rest('POST', path, { urlencoded: {} })
    expect([page.status, titleOf(page)]).toEqual([200, 'Second – Annal'])
    expect(page.text).toContain('It could not be checked right now')
  })
})

describe('an asset that is not public', () => {
  it('has a page for its owner alone, of which nobody keeps a copy', async () => {
    const { id } = await owner.register({ caption: 'Mine' })
    const own = await owner.rest('GET', `/assets/${id}`)
    expect([own.status, own.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(own.headers.get('x-robots-tag')).toBe('noindex')
    expect(own.text).not.toMatch(/og:|ld\+json|canonical/)
    const other = await app.newUser()
    const unknown = await app.rest('GET', `/assets/${id.slice(0, -4)}aaaa`)
    expect([unknown.status, titleOf(unknown)]).toEqual([404, 'There is no such asset here'])
    for (const ask of [app.rest, other.rest]) {
      for (const answer of [
        await ask('GET', `/assets/${id}`),
        await ask('POST', `/assets/${id}`, { urlencoded: {} }),
      ]) {
        expect([answer.status, answer.text]).toEqual([404, unknown.text])
      }
    }
  })
})
