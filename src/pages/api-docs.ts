/** The page at `/api/v3/docs`: the description of the REST interface, to read and to try. Swagger UI draws it, from our own files. */
import { html } from 'hono/html'

/** The page, and what its browser may load: files of ours, and nothing from anywhere else. */
export const apiDocsPage = {
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'Cache-Control': 'no-cache',
  },
  html: String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Annal: REST</title>
<link rel="stylesheet" href="/api/v3/docs/swagger-ui.css">
<link rel="stylesheet" href="/api/v3/docs/page.css">
<script src="/api/v3/docs/swagger-ui-bundle.js" defer></script>
<script src="/api/v3/docs/page.js" defer></script>
</head>
<body>
<main id="docs">
<noscript>This page needs scripts. What it shows is <a href="/api/v3/openapi.json">openapi.json</a>.</noscript>
</main>
</body>
</html>
`),
}

/** Its own style sheet: what Swagger UI leaves to the page around it. */
export const apiDocsStyle = `html { box-sizing: border-box; }
*, *::before, *::after { box-sizing: inherit; }
body { margin: 0; background: #fafafa; font-family: system-ui, sans-serif; }
noscript { display: block; max-width: 38rem; margin: 3rem auto; padding: 0 1.25rem; }
`

/** Its script: asks nobody to validate, reads nothing of its own address, keeps no token. */
export const apiDocsScript = `SwaggerUIBundle({
  url: '/api/v3/openapi.json',
  domNode: document.getElementById('docs'),
  validatorUrl: null,
  queryConfigEnabled: false,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
})
`
