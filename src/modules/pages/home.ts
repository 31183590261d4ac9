/** The home page at `/`, with links to APIs and documentation. */
import { html } from 'hono/html'
import { contentPolicy, layout, type PageAnswer } from './page.ts'

export interface HomeParts {
  /** Base URL of the service for this reader, without a trailing slash. */
  baseUrl: string
  hasDocumentation: boolean
  hasPlayground: boolean
  /** True if the GraphQL schema is public. */
  hasSchema: boolean
}

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
