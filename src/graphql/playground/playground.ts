/**
 * Serves GraphiQL with example tabs from local files. The page contains 9 MB of script, so it is rendered and
 * compressed once.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { prepareFile, sendStaticFile } from '../../http/send.ts'
import { memoizeAsync } from '../../shared/async.ts'
import { tabs } from './tabs.ts'

const pageScript = readFileSync(new URL('./page.js', import.meta.url), 'utf8')

/**
 * Returns the content security policy. The page contains its script and workers, so only this page allows them. It
 * loads nothing from other hosts.
 */
const policyFor = (script: string) =>
  [
    "default-src 'none'",
    `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}' 'unsafe-eval'`,
    'worker-src blob: data:',
    "style-src 'unsafe-inline'",
    'font-src data:',
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** GraphiQL moves initial tabs while the pointer presses them, so that a click misses. */
const tabsStandStill = '.graphiql-tab { transform: none !important; }'

/** On a narrow screen, document, response and tools are stacked. Side by side, the response would be unreadable. */
const narrow = `@media (max-width: 48rem) {
  .graphiql-container { flex-direction: column-reverse; }
  .graphiql-container .graphiql-sidebar { flex-direction: row; width: auto; padding: 4px 8px; }
  .graphiql-container .graphiql-sidebar button + button { margin-top: 0; }
  .graphiql-container .graphiql-main { flex-direction: column; min-height: 0; }
  .graphiql-container .graphiql-sessions { margin: 0; border-radius: 0; min-height: 0; }
  .graphiql-container .graphiql-horizontal-drag-bar { display: none; }
  #graphiql-session { flex-direction: column; padding: 0; }
  #graphiql-session > .graphiql-editors { flex: 3 1 0% !important; min-height: 0; }
  #graphiql-session > .graphiql-response { flex: 2 1 0% !important; min-height: 0; }
}`

/** Returns a literal for an inline script. */
const literal = (value: unknown) => JSON.stringify(value).replaceAll('<', String.raw`\u003c`)

async function render() {
  // Loaded on first use, which makes start-up half a second faster.
  const { css, editorWorkerService, favicon, graphqlWorker, js, jsonWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  )
  const script = [
    `const workers = ${literal({ editorWorkerService, json: jsonWorker, graphql: graphqlWorker })}`,
    `const toUrl = (text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))`,
    'globalThis.MonacoEnvironment = { globalAPI: true, getWorkerUrl: (_, label) => toUrl(workers[label]) }',
    `globalThis.playgroundTabs = ${literal(tabs)}`,
    js,
    pageScript,
  ].join(';\n')
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Annal</title><link rel="icon" href="${favicon}"><style>${css}${tabsStandStill}${narrow}</style></head>
<body class="no-focus-outline"><noscript>The playground needs JavaScript.</noscript><div id="root"></div><script>${script}</script></body>
</html>`
  return { file: await prepareFile(Buffer.from(page)), policy: policyFor(script) }
}

/** Returns true if a browser requests the page. The page opens the `query` parameter of the URL. */
export const wantsPlayground = (req: IncomingMessage) =>
  (req.method === 'GET' || req.method === 'HEAD') && /\btext\/html\b/i.test(req.headers.accept ?? '')

/** Creates the handler of the playground. The page is rendered on the first request. */
export function createPlayground() {
  const rendered = memoizeAsync(render)

  return async (req: IncomingMessage, res: ServerResponse) => {
    const { file, policy } = await rendered()
    sendStaticFile(req, res, file, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'Cache-Control': 'no-cache',
      Vary: 'Accept',
    })
  }
}
