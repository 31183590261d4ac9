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
<div id="docs">
<noscript>This page needs scripts. What it shows is <a href="/api/v3/openapi.json">openapi.json</a>.</noscript>
</div>
</body>
</html>
`),
}

/** Its own style sheet: what Swagger UI leaves to the page around it, and colours where its own have too little contrast. */
export const apiDocsStyle = `html { box-sizing: border-box; }
*, *::before, *::after { box-sizing: inherit; }
html.dark-mode { color-scheme: dark; }
body { margin: 0; background: #fafafa; font-family: system-ui, sans-serif; }
.dark-mode body { background: #1c2022; color: #e4e6e6; }
#docs .opblock-summary-method { text-shadow: none; }
#docs .opblock-deprecated { opacity: 1; }
#docs :is(.info, .opblock-body, .opblock-tag) { overflow-wrap: anywhere; }
#docs code { white-space: pre-wrap; overflow-wrap: anywhere; }
html:not(.dark-mode) #docs .opblock-summary-method { color: #101314; }
html:not(.dark-mode) #docs :is(a.link, .url) { color: #0b57d0; }
html:not(.dark-mode) #docs .info .title small { background: #57606a; }
html:not(.dark-mode) #docs .info .title small.version-stamp { background: #3f6212; }
html:not(.dark-mode) #docs .btn.authorize, html:not(.dark-mode) #docs .btn.authorize span { color: #1b6e45; border-color: #1b6e45; }
html:not(.dark-mode) #docs .btn.cancel { color: #b3261e; border-color: #b3261e; }
html:not(.dark-mode) #docs .btn.execute { background: #0b57d0; border-color: #0b57d0; }
html:not(.dark-mode) #docs .parameter__in { color: #57606a; }
.dark-mode #docs .opblock-deprecated .opblock-summary-method { color: #ffffff; }
.dark-mode #docs .header-col { color: #e4e6e6; }
#docs .highlight-code span[style*="rgb(211, 99, 99)"] { color: #ff9c94 !important; }
noscript { display: block; max-width: 38rem; margin: 3rem auto; padding: 0 1.25rem; }
`

/**
 * Its script: follows the system's colours, names for screen readers what Swagger UI leaves without a name, asks nobody to validate, reads nothing
 * of its own address, keeps no token. What stands in a button is no link: whoever opens it has the address anyway.
 */
export const apiDocsScript = `const night = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', night.matches)
follow()
night.addEventListener('change', follow)
const docs = document.getElementById('docs')
const nameOf = (select) =>
  select.closest('.servers') ? 'Server' : (select.closest('[data-param-name]')?.dataset.paramName ?? 'Choice')
const regions = { '.information-container': 'About', '.scheme-container': 'Server and sign-in', '.filter-container': 'Filter' }
new MutationObserver(() => {
  for (const [selector, name] of Object.entries(regions)) {
    for (const part of docs.querySelectorAll(selector + ':not([role])')) {
      part.setAttribute('role', 'region')
      part.setAttribute('aria-label', name)
    }
  }
  for (const select of docs.querySelectorAll('select:not([aria-label])')) select.setAttribute('aria-label', nameOf(select))
  for (const example of docs.querySelectorAll('pre.microlight:not([tabindex])')) example.setAttribute('tabindex', '0')
  for (const heading of docs.querySelectorAll('.models > h4:not([aria-level])')) heading.setAttribute('aria-level', '3')
}).observe(docs, { childList: true, subtree: true })
const plainPaths = (system) => ({
  components: { DeepLink: ({ text }) => system.React.createElement('span', null, text) },
})
SwaggerUIBundle({
  url: '/api/v3/openapi.json',
  domNode: docs,
  plugins: [plainPaths],
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
