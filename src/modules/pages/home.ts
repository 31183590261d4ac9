/** The home page at `/`, the page of the API reference, and the documentation site at `/docs/`. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { html } from 'hono/html'
import mime from 'mime'
import { prepareFile, sendStaticFile } from '../../http/http-server.ts'
import type { DirectRoute } from '../../http/rest/define-route.ts'
import { notFound } from '../../shared/errors.ts'
import { contentPolicy, layout, noticePage, type PageAnswer } from './page.ts'

/** `baseUrl`: without a trailing slash. `hasSchema`: true if the GraphQL schema is public. */
type HomeParts = { baseUrl: string } & Record<'hasDocumentation' | 'hasPlayground' | 'hasSchema', boolean>

const contentOf = ({ baseUrl, hasDocumentation, hasPlayground, hasSchema }: HomeParts): string =>
  layout({
    language: 'en',
    title: 'Annal',
    content: html`<h1>Annal</h1>
<p>Registers assets, records every change of their metadata on a blockchain, and keeps accounts with wallets.</p>
<dl>
${
  hasDocumentation &&
  html`<dt>Documentation</dt>
<dd><a href="/docs/">${baseUrl}/docs/</a>: tutorials, guides and reference.</dd>
`
}${
  hasPlayground &&
  html`<dt>Playground</dt>
<dd><a href="/graphql">${baseUrl}/graphql</a> opens on working examples.</dd>
`
}<dt>GraphQL</dt>
<dd><code>POST ${baseUrl}/graphql</code>${hasSchema && html`, by the schema of <a href="/schema.graphql">${baseUrl}/schema.graphql</a>`}.</dd>
<dt>REST</dt>
<dd><code>${baseUrl}/api/v3/</code>: <a href="/api/v3/docs">interactive reference</a>, and OpenAPI document: <a href="/api/v3/openapi.json">openapi.json</a>.</dd>
<dt>Is this file registered?</dt>
<dd><a href="/lookup">${baseUrl}/lookup</a>checks this by hash. The file stays in your browser.</dd>
<dt>Files</dt>
<dd><code>${baseUrl}/ipfs/&lt;nid&gt;</code>, also with <code>?format=raw</code> and <code>?format=car</code>.</dd>
<dt>Health</dt>
<dd><a href="/readyz">${baseUrl}/readyz</a></dd>
</dl>`,
  })

export const homePage = (parts: HomeParts): PageAnswer => ({
  status: 200,
  headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': contentPolicy('none') },
  html: contentOf(parts),
})

/** HTML page of the API reference. Its policy permits only files of this service, and inline styles for Scalar. */
export const apiDocsPage = {
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy':
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'Cache-Control': 'no-cache',
  },
  html: String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Annal: REST</title>
<script src="/api/v3/docs/scalar.js" defer></script>
<script src="/api/v3/docs/page.js" defer></script>
</head>
<body>
<noscript>This page needs scripts. It shows <a href="/api/v3/openapi.json">openapi.json</a>.</noscript>
<div id="docs"></div>
</body>
</html>
`),
}

const configuration = {
  url: '/api/v3/openapi.json',
  ...{ withDefaultFonts: false, telemetry: false, agent: { disabled: true }, mcp: { disabled: true }, proxyUrl: '' },
  ...{ persistAuth: false, hideClientButton: true, showDeveloperTools: 'never', defaultOpenFirstTag: true },
}

export const apiDocsScript = `Scalar.createApiReference('#docs', ${JSON.stringify(configuration)})\n`

const folder = fileURLToPath(new URL('../../../dist-docs/', import.meta.url))

export const hasDocumentation = () => existsSync(join(folder, 'index.html'))

/** Inline scripts set the color scheme before the page is shown. */
const inlineScripts = (page: string) =>
  [...page.matchAll(/<script id="[\w-]+">(.*?)<\/script>/gs)].map(
    ([, script]) => `'sha256-${createHash('sha256').update(script!).digest('base64')}'`,
  )

/** Style attributes color the code samples. */
const policyOf = (page: string) =>
  `default-src 'self'; script-src ${["'self'", ...inlineScripts(page)].join(' ')}; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The links of the site omit `.html`. */
async function findFile(path: string) {
  for (const name of path === '' ? ['index.html'] : [path, `${path}.html`]) {
    // In a normalized absolute path, `..` cannot leave the root folder.
    const bytes = await readFile(join(folder, posix.normalize(`/${name}`))).catch(() => undefined)
    if (bytes) return { name, bytes }
  }
  return undefined
}

const sendFile: DirectRoute['handle'] = async ({ req, res, params }) => {
  const found = await findFile(params['*'] ?? '')
  if (!found) throw notFound('Page')
  const { name, bytes } = found
  // Browsers show configuration files and sources as text.
  const type = (!name.startsWith('files/') && mime.getType(name)) || 'text/plain'
  sendStaticFile(req, res, await prepareFile(bytes), {
    'Content-Type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    ...(type === 'text/html' && { 'Content-Security-Policy': policyOf(bytes.toString()) }),
    // The names of files in `assets/` contain a hash of their content, so caches may keep them.
    'Cache-Control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'public, no-cache',
  })
}

/** Sends the documentation's first page. Redirects `/docs` to `/docs/`, because the site's scripts need the slash. */
const sendFirstPage: DirectRoute['handle'] = async (request) => {
  if (request.req.url!.startsWith('/docs/')) return sendFile(request)
  request.reply.redirect('/docs/', 308)
}

const notBuilt = () =>
  noticePage(404, {
    ...{ language: 'en', title: 'The documentation site is not built', kind: 'bad' },
    paragraphs: ['Run “npm run docs” in the folder of Annal, then load this page again.'],
  })

/** `refusal`: renders errors as pages. */
export function createDocumentationRoutes(refusal: NonNullable<DirectRoute['presentRefusal']>): DirectRoute[] {
  const presentRefusal: typeof refusal = (error, req) =>
    error.code === 'NOT_FOUND' && !hasDocumentation() ? notBuilt() : refusal(error, req)
  const shared = { method: 'GET', ignoresCredentials: true, presentRefusal } as const
  return [
    { ...shared, path: '/docs', handle: sendFirstPage },
    { ...shared, path: '/docs/*', handle: sendFile },
  ]
}
