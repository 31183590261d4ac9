/** Reference page of the REST API at `/api/v3/docs`. Scalar renders it in the browser. */
import { html } from 'hono/html'

/** The page. Its browser may load only files of this service. Scalar needs inline styles. */
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

/**
 * Configuration of Scalar. The defaults would contact other origins for fonts, telemetry, an agent and a proxy. The
 * caller's token is not stored.
 */
const configuration = {
  url: '/api/v3/openapi.json',
  ...{ withDefaultFonts: false, telemetry: false, agent: { disabled: true }, mcp: { disabled: true }, proxyUrl: '' },
  ...{ persistAuth: false, hideClientButton: true, showDeveloperTools: 'never', defaultOpenFirstTag: true },
}

/** Script that starts Scalar. */
export const apiDocsScript = `Scalar.createApiReference('#docs', ${JSON.stringify(configuration)})\n`
