/**
 * A walk through the service for people: one account, one photograph, one change, and the history as the chain has it.
 * Every request is printed as a curl command that can be run again from the repository's root.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { parseArgs, styleText } from 'node:util'

const photo = 'bench/demo-photo.jpg'
/** Milliseconds until the chain must have the commits. */
const patience = 60_000

interface Commit {
  transaction: string | null
  actionName: string
  timestampCreated: number
  changes: Record<string, [unknown, unknown]>
  status: string
}

interface Request {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  token?: string
  json?: object
  form?: Record<string, string | Blob>
}

const { values } = parseArgs({ options: { url: { type: 'string' }, help: { type: 'boolean', short: 'h' } } })
const base = (values.url ?? process.env.ANNAL_URL ?? 'http://localhost:4000').replace(/\/+$/, '')

const print = (text = ''): void => void process.stdout.write(`${text}\n`)
const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

class DemoError extends Error {}

/** The request as a person would send it. */
function curl({ method, path, token, json, form }: Request): string {
  const lines = [`curl -X ${method} ${quote(`${base}${path}`)}`]
  if (token) lines.push(`-H ${quote(`Authorization: token ${token}`)}`)
  if (json) lines.push(`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(json))}`)
  for (const [name, value] of Object.entries(form ?? {})) {
    lines.push(`-F ${quote(value instanceof Blob ? `${name}=@${photo};type=image/jpeg` : `${name}=${value}`)}`)
  }
  return lines.map((line, index) => (index ? `    ${line}` : `  ${line}`)).join(' \\\n')
}

async function ask(request: Request): Promise<unknown> {
  const { method, path, token, json, form } = request
  const headers: Record<string, string> = {}
  if (token) headers.authorization = `token ${token}`
  if (json) headers['content-type'] = 'application/json'
  let body: string | FormData | undefined = json && JSON.stringify(json)
  if (form) {
    body = new FormData()
    for (const [name, value] of Object.entries(form)) {
      if (value instanceof Blob) body.append(name, value, 'demo-photo.jpg')
      else body.append(name, value)
    }
  }
  const response = await fetch(`${base}${path}`, { method, headers, body }).catch((cause: unknown) => {
    throw new DemoError(`No server answers at ${base}. Start one with "npm start", or name one with ANNAL_URL.`, {
      cause,
    })
  })
  const text = await response.text()
  if (!response.ok) throw new DemoError(`${method} ${path} was answered with ${response.status}: ${text}`)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new DemoError(`${base} is not an Annal server: ${method} ${path} was not answered with JSON.`, { cause })
  }
}

async function show(title: string, request: Request): Promise<unknown> {
  print(`\n${styleText('bold', title)}`)
  print(styleText('dim', curl(request)))
  return ask(request)
}

const shorten = (value: unknown) => {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

function printHistory(commits: Commit[]) {
  for (const [index, { transaction, actionName, timestampCreated, changes, status }] of commits.entries()) {
    print(`  ${index + 1}. ${actionName}, ${new Date(timestampCreated * 1000).toISOString()}, ${status}`)
    print(`     transaction ${transaction ?? 'not yet'}`)
    for (const [field, [old, fresh]] of Object.entries(changes))
      print(`     ${field}: ${shorten(old)} → ${shorten(fresh)}`)
  }
}

/** Asks until every commit is in a block. */
async function waitForChain(nid: string, token: string): Promise<Commit[]> {
  const deadline = performance.now() + patience
  for (;;) {
    const { commits } = (await ask({ method: 'GET', path: `/api/v3/assets/${nid}/history/`, token })) as {
      commits: Commit[]
    }
    if (commits.every(({ status }) => status === 'included' || status === 'final')) return commits
    if (performance.now() > deadline) {
      printHistory(commits)
      throw new DemoError(`The commits are not in the chain after ${patience / 1000} s. The server's log says why.`)
    }
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

async function demo() {
  const name = `demo-${randomBytes(4).toString('hex')}`
  const account = { username: name, email: `${name}@example.org`, password: randomBytes(9).toString('base64url') }
  // Every run registers a file of its own: bytes after a JPEG's end do not change the picture.
  const bytes = Buffer.concat([await readFile(new URL('../bench/demo-photo.jpg', import.meta.url)), Buffer.from(name)])
  const file = new Blob([bytes], { type: 'image/jpeg' })

  await show('Sign up', { method: 'POST', path: '/api/v3/auth/users/', json: account })
  const { auth_token: token } = (await show('Log in', {
    method: 'POST',
    path: '/api/v3/auth/token/login/',
    json: { email: account.email, password: account.password },
  })) as { auth_token: string }

  const readBalance = async (title: string) => {
    const me = (await show(title, { method: 'GET', path: '/api/v3/auth/users/me/', token })) as { points: string }
    print(`  ${me.points} points`)
  }
  await readBalance('The balance before')

  const { id: nid } = (await show('Register a photograph', {
    method: 'POST',
    path: '/api/v3/assets/',
    token,
    form: { asset_file: file, caption: 'The lake', public_access: 'true' },
  })) as { id: string }
  print(`  nid ${nid}`)

  await show('Change caption, headline and a custom field', {
    method: 'PATCH',
    path: `/api/v3/assets/${nid}/`,
    token,
    json: {
      caption: 'The lake at sunset, seen from the northern shore',
      headline: 'Sunset',
      nit_commit_custom: { location: { name: 'Northern shore', coordinates: { latitude: 46.45, longitude: 6.85 } } },
      commit_message: 'Say what the picture shows',
    },
  })
  await show('The history, once the chain has it', { method: 'GET', path: `/api/v3/assets/${nid}/history/`, token })
  printHistory(await waitForChain(nid, token))
  await readBalance('The balance after: two commits were paid for')

  print(`\nThe picture       ${base}/ipfs/${nid}`)
  print(`Check it yourself npm run annal -- verify ${nid}`)
}

if (values.help) {
  print(
    'Usage: npm run demo [-- --url <address>]\n\nWalks through a running server: ANNAL_URL, or http://localhost:4000.',
  )
} else {
  try {
    await demo()
  } catch (error) {
    process.stderr.write(`\n${error instanceof DemoError ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
