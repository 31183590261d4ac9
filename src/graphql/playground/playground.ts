/** Serves GraphiQL with example tabs from local files. The page has 9 MB of script, so it is compressed only once. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { prepareFile, sendStaticFile } from '../../http/http-server.ts'
import { memoizeAsync } from '../../shared/async.ts'

const pageScript = readFileSync(new URL('./page.js', import.meta.url), 'utf8')

/**
 * Returns the content security policy. The page contains its script and workers, so only this page allows them. It
 * loads nothing from other hosts.
 */
const policyFor = (script: string) =>
  [
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}' 'unsafe-eval'`,
    "connect-src 'self'; worker-src blob: data:; style-src 'unsafe-inline'; font-src data:; img-src 'self' data:",
  ].join('; ')

/** Style that keeps tabs still. GraphiQL moves the initial tabs during a click, so that the click misses. */
const withoutTabMotion = '.graphiql-tab { transform: none !important; }'

/** Style for narrow screens. It stacks document, response and tools, because side by side they are unreadable. */
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

const literal = (value: unknown) => JSON.stringify(value).replaceAll('<', String.raw`\u003c`)

async function render() {
  // The scripts are loaded on first use, which makes start-up half a second faster.
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
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Annal</title><link rel="icon" href="${favicon}"><style>${css}${withoutTabMotion}${narrow}</style></head>
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

/** Values for placeholders such as `{{token}}` come from earlier responses: see `page.js`. */
const asUser = { Authorization: 'token {{token}}' }
const asAdministrator = { Authorization: 'token {{adminToken}}' }
const throughShop = { ...asUser, 'x-api-key': '{{apiKey}}' }

const account = { email: 'ada-{{random}}@example.org', password: 'correct horse battery' }
const administrator = { email: 'root@example.org', password: 'correct horse battery' }

const tab = (query: string, variables: object, headers: object = {}) => ({ query, variables, headers })

const tabs = [
  tab(
    `# 1. Create an account with a wallet and points.
#    Run the tabs from left to right.
mutation SignUp($input: SignUpInput!) {
  signUp(input: $input) { user { id username address } }
}
`,
    { input: { username: 'ada-{{random}}', ...account } },
  ),
  tab(
    `# 2. Sign in. The page adds the token to the
#    headers of later tabs as "Authorization".
mutation SignIn($input: SignInInput!) {
  signIn(input: $input) { token }
}
`,
    { input: account },
  ),
  tab(
    `# 3. Register a file as an asset, paid in points.
#    Your browser asks for a file. To choose
#    another one, write "file:choose" again.
mutation Add($file: Upload!, $caption: String) {
  registerAsset(
    input: { assetFile: $file, caption: $caption }
  ) {
    asset { id assetFileName caption }
  }
}
`,
    { file: 'file:choose', caption: 'Evening at sea' },
    asUser,
  ),
  tab(
    `# 4. Change the metadata of the asset of tab 3.
#    Each change is a commit at the same price.
mutation Edit($input: UpdateAssetMetadataInput!) {
  updateAssetMetadata(input: $input) {
    asset { id caption headline }
  }
}
`,
    { input: { id: '{{asset}}', headline: 'Sunset', commitMessage: 'Give it a headline' } },
    asUser,
  ),
  tab(
    `# 5. Read the history of the asset, newest first.
#    Repeat it to see commits reach the chain:
#    PENDING, BROADCAST, INCLUDED, FINAL.
query History($id: ID!) {
  asset(id: $id) {
    id headline
    commits(first: 10) {
      nodes { message changes status transactionHash }
    }
  }
}
`,
    { id: '{{asset}}' },
    asUser,
  ),
  tab(
    `# 6. Sign in as administrator, who sells apps.
#    First create one in a terminal:
#    echo correct horse battery |
#      npm run -s annal -- admin create \\
#      --username root --email root@example.org
mutation Administrator($input: SignInInput!) {
  administrator: signIn(input: $input) { token }
}
`,
    { input: administrator },
  ),
  tab(
    `# 7. Create a paid action. With a "webhookUrl",
#    each order would call it.
mutation App($input: CreateNetworkAppInput!) {
  createNetworkApp(input: $input) {
    networkApp { id name price }
  }
}
`,
    { input: { name: 'upscale-{{random}}', price: '1.5' } },
    asAdministrator,
  ),
  tab(
    `# 8. Create an API key for the shop. The page adds
#    it to the headers of later tabs as "x-api-key".
mutation IssueKey($input: IssueApiKeyInput!) {
  issueApiKey(input: $input) { key }
}
`,
    { input: { name: 'playground' } },
    asAdministrator,
  ),
  tab(
    `# 9. Order the action for the asset of tab 3
#    through the shop. It is not paid yet.
mutation Order($input: CreateOrderInput!) {
  createOrder(input: $input) {
    order { id status price expiresAt }
  }
}
`,
    { input: { networkApp: '{{networkApp}}', actionArgs: { nid: '{{asset}}' } } },
    throughShop,
  ),
  tab(
    `# 10. Confirm the order. The wallet is charged
#     once, even if you repeat the request.
mutation Confirm($input: ConfirmOrderInput!) {
  confirmOrder(input: $input) {
    order { id status pointsPaid numPaid paidAt }
  }
}
`,
    { input: { id: '{{order}}' } },
    throughShop,
  ),
]
