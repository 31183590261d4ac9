/** The home page. */
import { expect, it } from 'vitest'
import { createTestApp } from '../../support/test-app.ts'

const read = async (url: string) => {
  const answer = await fetch(url, { headers: { accept: 'text/html' } })
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
}

it.each([
  ['with introspection enabled', { GRAPHQL_INTROSPECTION: 'true' }, true],
  ['with introspection disabled', { GRAPHQL_INTROSPECTION: 'false' }, false],
] as const)('all links of the home page work: %s', async (_, env, isOpen) => {
  const app = await createTestApp({ env })
  const { text } = await read(app.url)
  const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, href]) => href!)
  for (const href of links) expect((await read(app.url + href)).status, href).toBe(200)
  expect(links).toEqual(expect.arrayContaining(['/lookup', '/api/v3/docs']))
  expect([links.includes('/graphql'), links.includes('/schema.graphql')]).toEqual([isOpen, isOpen])
  expect(text).not.toMatch(/false|undefined/)
})
